"""Reads sources for two arrays that belong together row by row, of which only one was put in a new order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name

DRAWING = frozenset(("randperm", "permutation"))
SEEDING = frozenset(("seed", "manual_seed", "set_state", "setstate", "Random", "RandomState", "default_rng"))
_JOINING = ("zip", "train_test_split", "fit")
_COUNTING = frozenset(("range", "arange", "list"))


@late_dataclass(frozen=True)
class Apart:
    """`moved` was put in a new order by this line, `left` was not, and `joined` uses them side by side."""

    line: int
    text: str
    moved: str
    left: str
    joined: int


@late_dataclass()
class Scope:
    """What one function, or the module, does with names: in which line each gets a value, and which value."""

    name: str
    given: list[str]
    nodes: list[ast.AST]
    values: dict[str, list[tuple[int, ast.expr]]] = field(default_factory=dict)
    orders: set[str] = field(default_factory=set)

    def is_older(self, name: str, line: int) -> bool:
        """Whether a name has its value from before a line, and only from there."""
        lines = [at for at, _ in self.values.get(name, [])]
        return all(at < line for at in lines) if lines else name in self.given

    def uses(self, name: str, order: str) -> bool:
        """Whether a name was put in this order as well, or made of something that was."""
        subscripts = (node for node in self.nodes if isinstance(node, ast.Subscript) and _names(node.slice, order))
        made = (value for _, value in self.values.get(name, []))
        return any(ast.unparse(node.value) == name for node in subscripts) or any(_names(v, order) for v in made)


def shuffled_apart(tree: ast.Module) -> Iterator[Apart]:
    all_scopes = list(scopes(tree))
    for scope in all_scopes:
        moves = list(_moves(scope))
        first = min((line for line, *_ in moves), default=0)
        # The same seed before each of two shufflings gives the same order.
        if not moves or any(_called(node) in SEEDING and node.lineno > first for node in _calls(scope)):
            continue
        for line, text, name, base, order in moves:
            for left, joined in _partners(scope, name):
                is_left = left not in (base, name) and scope.is_older(left, line) and joined >= line
                if is_left and not (order and scope.uses(left, order)):
                    yield Apart(line, text, name, left, joined)
            if name == base and name in scope.given:
                yield from _apart_for_callers(scope, all_scopes, line, text, name)


def _apart_for_callers(scope: Scope, callers: list[Scope], line: int, text: str, name: str) -> Iterator[Apart]:
    """A function shuffles one of its arguments in place, and whoever calls it uses two of them side by side."""
    for caller in callers:
        for call in (node for node in _calls(caller) if scope.name and _called(node) == scope.name):
            handed = {p: a.id for p, a in zip(scope.given, call.args, strict=False) if isinstance(a, ast.Name)}
            beside = dict(_partners(caller, handed.get(name, "")))
            for other, theirs in handed.items():
                if other != name and theirs in beside and beside[theirs] > call.lineno:
                    yield Apart(line, text, name, other, beside[theirs])


def _moves(scope: Scope) -> Iterator[tuple[int, str, str, str, str]]:
    """Lines that put an array in a new order: line, text, the new name, the old one, and the order's own name."""
    for node in scope.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            base, order = _reordered(scope, node.value)
            if base:
                yield node.lineno, ast.unparse(node), node.targets[0].id, base, order
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) == "shuffle":
            first = node.value.args[0] if len(node.value.args) == 1 else None
            if isinstance(first, ast.Name) and first.id not in scope.orders:
                yield node.lineno, ast.unparse(node), first.id, first.id, ""


def _reordered(scope: Scope, value: ast.expr) -> tuple[str, str]:
    """The array and the order of `x[order]`, `x[randperm(n)]` and `shuffle(x)`."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
        index = value.slice
        if isinstance(index, ast.Name) and index.id in scope.orders:
            return value.value.id, index.id
        if isinstance(index, ast.Call) and _called(index) in DRAWING:
            return value.value.id, ""
    if isinstance(value, ast.Call) and _called(value) == "shuffle" and len(value.args) == 1:
        only = value.args[0]
        return (only.id, "") if isinstance(only, ast.Name) else ("", "")
    return "", ""


def _partners(scope: Scope, name: str) -> Iterator[tuple[str, int]]:
    """Names that are used side by side with this one, and where."""
    for node in scope.nodes:
        if isinstance(node, ast.Call) and (_called(node) in _JOINING or _called(node)[:1].isupper()):
            plain = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
            if name in plain and len(plain) == len(node.args) == 2:
                yield from ((other, node.lineno) for other in plain if other != name)
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            cut = [(ast.unparse(e.value), ast.unparse(e.slice)) for e in node.elts if isinstance(e, ast.Subscript)]
            if len(cut) == 2 and cut[0][1] == cut[1][1] and name in (cut[0][0], cut[1][0]):
                yield cut[1][0] if cut[0][0] == name else cut[0][0], node.lineno
    own = {ast.unparse(node.slice) for node in _slices(scope) if ast.unparse(node.value) == name}
    for node in _slices(scope):
        if ast.unparse(node.slice) in own and ast.unparse(node.value) != name:
            yield ast.unparse(node.value), node.lineno


def _slices(scope: Scope) -> Iterator[ast.Subscript]:
    """Parts `x[a:b]` of named arrays."""
    cuts = (node for node in scope.nodes if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice))
    return (node for node in cuts if isinstance(node.value, ast.Name))


def scopes(tree: ast.Module) -> Iterator[Scope]:
    waiting: list[ast.Module | ast.FunctionDef] = [tree]
    while waiting:
        node = waiting.pop()
        inside: list[ast.AST] = []
        rest: list[ast.AST] = list(node.body)
        while rest:
            child = rest.pop()
            if isinstance(child, ast.FunctionDef):
                waiting.append(child)
            else:
                inside.append(child)
                rest.extend(ast.iter_child_nodes(child))
        given = [argument.arg for argument in node.args.args] if isinstance(node, ast.FunctionDef) else []
        name = node.name if isinstance(node, ast.FunctionDef) else ""
        yield _described(Scope(name, given, sorted(inside, key=lambda n: getattr(n, "lineno", 0))))


def _described(scope: Scope) -> Scope:
    for node in scope.nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(node, ast.Assign):
                    scope.values.setdefault(name.id, []).append((node.lineno, node.value))
    drawn = {name for name, made in scope.values.items() if any(_draws(value) for _, value in made)}
    counted = {name for name, made in scope.values.items() if any(_called(value) in _COUNTING for _, value in made)}
    scope.orders = drawn | counted
    return scope


def _draws(value: ast.AST) -> bool:
    return any(_called(node) in DRAWING for node in ast.walk(value))


def _calls(scope: Scope) -> Iterator[ast.Call]:
    return (node for node in scope.nodes if isinstance(node, ast.Call))


def _called(node: ast.AST) -> str:
    """The last name of what is called; empty for what is no call."""
    return called_name(node) if isinstance(node, ast.Call) else ""


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(node))
