"""Finds the lines of the user's own code that draw random numbers, and those that set the seed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location, location_of
from torchmedic.probes.source.sources import user_files

# fmt: off
_TORCH = frozenset((
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "normal", "bernoulli",
    "multinomial", "poisson", "sample", "rsample", "normal_", "uniform_", "bernoulli_", "exponential_", "random_",
    "log_normal_", "geometric_", "cauchy_",
))
# fmt: on
_SEEDS = {
    "torch": ("manual_seed", "seed_everything", "set_seed"),
    "numpy": ("seed", "seed_everything", "set_seed"),
    "python": ("seed", "seed_everything", "set_seed"),
}
_SETTING_UP = ("__init__", "reset_parameters", "init_weights", "_init_weights", "setup")


def drawn_before(frame: FrameType, generator: str) -> Location | None:
    """The last line of a function, or of a helper it calls, that draws before the line where a frame stands.

    None where a rank takes its share of what all have drawn: there the numbers have to be the same.
    """
    file = frame.f_code.co_filename
    tree = parsed(file)
    if tree is None:
        return None
    line = frame.f_lineno or 0
    region = _region(tree, line)
    calls = [node for part in region for node in ast.walk(part) if isinstance(node, ast.Call) and node.lineno <= line]
    own = [call for call in calls if _draws(call, generator)]
    if any(_takes_share(part) for part in region if part.lineno <= line):
        return None
    if own:
        return location(file, max(call.lineno for call in own), location_of(frame).function)
    helpers = {_name(call.func) for call in calls}
    return _first_drawing(generator, lambda node: isinstance(node, ast.FunctionDef) and node.name in helpers)


def drawn_in(kinds: Iterable[type], generator: str) -> Location | None:
    """A line in the methods of some classes of the user's that draws; not while they are built."""
    names = {kind.__name__ for kind in kinds if is_user_file(file_of(kind))}
    return _first_drawing(generator, lambda node: isinstance(node, ast.ClassDef) and node.name in names)


def mentions_dropout(kinds: Iterable[type]) -> bool:
    """Whether classes of the user's speak of dropout, whose draws could be taken for their own."""
    files = {file_of(kind) for kind in kinds}
    trees = [parsed(file) for file in files if is_user_file(file)]
    names = (_word(node) for tree in trees if tree is not None for node in ast.walk(tree))
    return any("drop" in name.lower() for name in names)


def seeded_at(generator: str) -> Location | None:
    """The line that sets the seed of a generator: the call of a helper that does so, where there is one."""
    for file in user_files():
        tree = parsed(file)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
        seeding = [call for call in calls if _name(call.func) in _SEEDS[generator] and _owner_fits(call, generator)]
        if tree is not None and seeding:
            helper = _function_around(tree, seeding[0].lineno)
            caller = next((c for c in calls if helper and "seed" in helper and _name(c.func) == helper), None)
            return location(file, (caller or seeding[0]).lineno)
    return None


def _region(tree: ast.Module, line: int) -> list[ast.stmt]:
    """The body of the innermost loop around a line, or that of its function where no loop is."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)]
    functions = [n for n in around if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    inside = max((f.lineno for f in functions), default=0)
    loops = [n for n in around if isinstance(n, (ast.For, ast.While, ast.AsyncFor)) and n.lineno > inside]
    if loops:
        return max(loops, key=lambda loop: loop.lineno).body
    return max(functions, key=lambda f: f.lineno).body if functions else tree.body


def _first_drawing(generator: str, fits: Callable[[ast.AST], bool]) -> Location | None:
    for file in user_files():
        tree = parsed(file)
        for scope in ast.walk(tree) if tree is not None else ():
            if fits(scope):
                line = min(_drawing_lines(scope, generator), default=0)
                if line and not _takes_share(scope):
                    return location(file, line, getattr(scope, "name", ""))
    return None


def _drawing_lines(scope: ast.AST, generator: str) -> Iterator[int]:
    for part in ast.iter_child_nodes(scope):
        if not (isinstance(part, ast.FunctionDef) and part.name in _SETTING_UP):
            yield from (n.lineno for n in ast.walk(part) if isinstance(n, ast.Call) and _draws(n, generator))


def _takes_share(scope: ast.AST) -> bool:
    """Whether a rank's number is counted with: `rows[rank::world]`, `narrow(0, rank * n, n)`."""
    counted = [n.slice if isinstance(n, ast.Subscript) else n for n in ast.walk(scope) if _may_count(n)]
    return any("rank" in _word(node).lower() for part in counted for node in ast.walk(part))


def _may_count(node: ast.AST) -> bool:
    return isinstance(node, (ast.Subscript, ast.BinOp))


def _draws(call: ast.Call, generator: str) -> bool:
    if any(word.arg == "generator" for word in call.keywords):
        return False
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if generator == "numpy":
        return owner in ("np.random", "numpy.random")
    if generator == "python":
        return owner == "random" and _name(call.func) != "seed"
    return _name(call.func) in _TORCH and not owner.startswith(("np", "numpy", "random", "rng"))


def _owner_fits(call: ast.Call, generator: str) -> bool:
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if _name(call.func) != "seed":
        return "Generator" not in owner
    return owner in (("np.random", "numpy.random") if generator == "numpy" else ("random",))


def _function_around(tree: ast.Module, line: int) -> str:
    functions = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return max(functions, key=lambda f: f.lineno).name if functions else ""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.arg):
        return node.arg
    return _name(node) if isinstance(node, ast.expr) else ""


def reseeded_at(file: str, line: int, has_generator: bool) -> tuple[Location, str] | None:
    """The line that sets the seed anew each time a line draws, and its text.

    It stands above the draw in the same function or loop, or in a helper that is called there, or in a loop of the
    user's that calls helpers.
    """
    tree = parsed(file)
    if tree is None:
        return None
    region = _region(tree, line)
    near = [call for part in region for call in _calls(part) if call.lineno <= line]
    own = [call for call in near if _sets_seed(call, has_generator)]
    if own:
        last = max(own, key=lambda call: call.lineno)
        return location(file, last.lineno), ast.unparse(last)
    helpers = {_name(call.func) for call in near}
    for other in user_files():
        scopes = [node for node in ast.walk(parsed(other) or ast.Module([], [])) if _is_block(node, helpers)]
        calls = [call for scope in scopes for call in _calls(scope) if _sets_seed(call, has_generator)]
        if calls:
            return location(other, calls[0].lineno), ast.unparse(calls[0])
    return None


def _is_block(node: ast.AST, helpers: set[str]) -> bool:
    return isinstance(node, (ast.For, ast.While)) or (isinstance(node, ast.FunctionDef) and node.name in helpers)


def _calls(scope: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(scope) if isinstance(node, ast.Call)]


def _sets_seed(call: ast.Call, has_generator: bool) -> bool:
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    is_global = owner.split(".")[0] in ("torch", "L", "pl", "lightning", "") and "Generator" not in owner
    return _name(call.func) in _SEEDS["torch"] and is_global is not has_generator
