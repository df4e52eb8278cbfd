"""The statement of the script that puts an object where it is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.handing import CUTTING, handing_call, part_at
from torchmedic.probes.objects.name_paths import Keeper
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

STORING = frozenset(("append", "extend", "insert", "appendleft", "add", "put", "update", "setdefault"))
_EMPTYING = frozenset(("clear", "pop", "popleft", "popitem", "remove"))
_READERS = frozenset(
    (
        *("torch", "nn", "np", "numpy", "F", "len", "print", "sum", "list", "tuple", "enumerate", "zip", "range"),
        *("min", "max", "sorted", "any", "all"),
    )
)


@late_dataclass(frozen=True)
class Storing:
    """The line to edit, the line inside a helper that stores, and what is stored.

    `never_emptied`: the statement stands in a loop, and nothing in the outermost loop around it empties the container;
    or in a function, as a hook is, and no line of the script does.
    `filled_only`: no line of the script empties it or gives it to a function that might.
    `goes_on`: the new value is made of the old one, or is another thing handed over whole.
    """

    where: Location | None
    stored: Location | None
    value: str
    never_emptied: bool = False
    filled_only: bool = False
    goes_on: bool = False


def storing_statement(keeper: Keeper, *, cut_off: bool = False) -> Storing:
    """Find, in the user's files, the statement that puts a tensor where the keeper holds it, `cut_off` its graph."""
    files = list(user_files())
    found: list[tuple[int, str, ast.stmt, ast.expr | None, ast.AST]] = []
    for file in files:
        tree = parsed(file)
        if tree is not None:
            found += [(score, file, *rest) for score, *rest in _stores(tree, keeper, cut_off)]  # type: ignore[misc]
    if not found:
        return Storing(None, None, "")
    _, file, statement, value, scope = min(found, key=lambda each: each[0])
    here = location(file, statement.lineno, getattr(scope, "name", "<module>"))
    text = _text(part_at(value, keeper.slot) if value is not None else None)
    filled_only = _is_filled_only(files, scope, keeper.name)
    caller = handing_call(files, keeper.owner, scope, value, keeper.slot) if value is not None else None
    written = _written_under(files, keeper.key) if keeper.key and caller is None else None
    for place in (caller, written):
        if place is not None:
            return Storing(place[0], here, place[1], filled_only=filled_only)
    goes_on = isinstance(statement, ast.AugAssign) or _refers(value, keeper.name)
    never_emptied = _is_never_emptied(scope, statement, keeper.name) or _nobody_empties(files, scope, keeper.name)
    return Storing(here, None, text, never_emptied, filled_only or never_emptied, goes_on)


def _written_under(files: list[str], key: str) -> tuple[Location, str] | None:
    """The line that puts a value into a dict under a key, where the script has one such line."""
    found: list[tuple[str, ast.expr]] = []
    for file in dict.fromkeys(files):  # `__main__` may be there by another name as well
        for node in ast.walk(parsed(file) or ast.Module([], [])):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found += [(file, value) for at, value in pairs if isinstance(at, ast.Constant) and at.value == key]
            elif isinstance(node, ast.Call) and called_name(node) == "dict":
                found += [(file, given.value) for given in node.keywords if given.arg == key]
            elif isinstance(node, ast.Assign) and _is_item(node.targets[0], key):
                found.append((file, node.value))
    if len(found) != 1:
        return None
    file, value = found[0]
    return location(file, value.lineno), ast.unparse(value)


def _is_item(target: ast.expr, key: str) -> bool:
    slot = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(slot, ast.Constant) and slot.value == key


def _text(value: ast.expr | None) -> str:
    """A value as it is written; what a function would read later is kept whole until then, whatever it reads."""
    return ast.unparse(value) if value is not None and not isinstance(value, ast.Lambda) else ""


def _is_never_emptied(scope: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Whether the outermost loop around a statement only ever adds to a container.

    >>> scope = ast.parse("for epoch in e:\\n  for x in data:\\n    kept.append(x)")
    >>> inner = scope.body[0].body[0].body[0]
    >>> _is_never_emptied(scope, inner, "kept")
    True
    """
    loops = [n for n in ast.walk(scope) if isinstance(n, (ast.For, ast.AsyncFor, ast.While))]
    around = [loop for loop in loops if any(n is statement for n in ast.walk(loop))]
    if not around:
        return False
    outermost = min(around, key=lambda loop: loop.lineno)
    return not any(_empties(node, name) for node in ast.walk(outermost))


def _nobody_empties(files: list[str], scope: ast.AST, name: str) -> bool:
    """Whether a function, called again and again, adds to a container of others that no line empties or hands on."""
    if not isinstance(scope, ast.FunctionDef) or any(_empties(node, name) for node in ast.walk(scope)):
        return False
    if any(isinstance(node, (ast.For, ast.AsyncFor, ast.While)) for node in ast.walk(scope)):
        return False
    trees = [tree for file in files if (tree := parsed(file)) is not None]
    for tree in trees:
        making = {id(statement) for statement in _before_all(tree, scope)}
        if any((_empties(n, name) or _hands_on(n, name)) and id(n) not in making for n in ast.walk(tree)):
            return False
    return True


def _is_filled_only(files: list[str], scope: ast.AST, name: str) -> bool:
    """Whether no line empties a container, once it is made, or gives it to a function of whatever kind."""
    for tree in (tree for file in files if (tree := parsed(file)) is not None):
        making = {id(statement) for statement in _before_all(tree, scope)}
        for node in ast.walk(tree):
            gives = isinstance(node, ast.Call) and _hands_on(node, name)
            if (gives or _empties(node, name)) and id(node) not in making:
                return False
    return True


def _before_all(tree: ast.Module, scope: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run once: of modules, of classes, of `__init__`, and of functions around a scope."""
    for holder in ast.walk(tree):
        is_function = isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef))
        is_around = is_function and holder is not scope and any(node is scope for node in ast.walk(holder))
        if isinstance(holder, (ast.Module, ast.ClassDef)) or getattr(holder, "name", "") == "__init__" or is_around:
            yield from holder.body  # type: ignore[attr-defined]


def _hands_on(node: ast.AST, name: str) -> bool:
    """Whether a container is given away whole: to a function of the script, or to who called."""
    if isinstance(node, ast.Return):
        return node.value is not None and _last(node.value) == name
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and node.func.attr in STORING):
        return False
    root = ast.unparse(node.func).partition(".")[0]
    handed = (*node.args, *(each.value for each in node.keywords))
    whole = [each for each in handed if not isinstance(each, ast.Subscript) or not _is_number(each.slice)]
    return root not in _READERS and any(_last(_without_key(argument)) == name for argument in whole)


def _is_number(index: ast.expr) -> bool:
    plain = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(plain, ast.Constant) and isinstance(plain.value, int)


def _empties(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _EMPTYING and _last(_without_key(node.func.value)) == name
    targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else []
    targets = [node.target] if isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.For)) else targets
    return any(_last(_without_key(target)) == name for target in targets)


def _stores(
    tree: ast.Module, keeper: Keeper, cut_off: bool
) -> Iterator[tuple[int, ast.stmt, ast.expr | None, ast.AST]]:
    """Statements that store under the keeper's name; the lower the first item, the likelier."""
    for scope, statement in _statements(tree):
        for value, receiver in _stored(statement, keeper):
            if (any(cut in _text(value) for cut in CUTTING) and not cut_off) or isinstance(value, ast.Constant):
                continue
            likely = receiver == keeper.path or receiver == f"self.{keeper.name}" or receiver == keeper.name
            in_init = getattr(scope, "name", "") == "__init__"
            elsewhere = _is_variable(keeper) and getattr(scope, "name", "") != keeper.function
            yield (
                (0 if likely else 1)
                + (4 if in_init else 0)
                + (2 if elsewhere else 0)
                + (0 if _refers(value, keeper.name) else 1),
                statement,
                value,
                scope,
            )


def _is_variable(keeper: Keeper) -> bool:
    """Whether a running function has the state in a variable of its own: another function's is another one."""
    return bool(keeper.function) and keeper.path == keeper.name and keeper.container in ("", "tuple")


def _refers(value: ast.expr | None, name: str) -> bool:
    """The value is a plain name (a tensor handed over) or goes on from the old value."""
    if isinstance(value, ast.Name):
        return True
    return value is not None and any(
        (isinstance(n, ast.Name) and n.id == name) or (isinstance(n, ast.Attribute) and n.attr == name)
        for n in ast.walk(value)
    )


def _statements(tree: ast.AST, scope: ast.AST | None = None) -> Iterator[tuple[ast.AST, ast.stmt]]:
    scope = scope or tree
    for child in ast.iter_child_nodes(tree):
        inner = child if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else scope
        if isinstance(child, ast.stmt):
            yield inner if inner is child else scope, child
        yield from _statements(child, inner)


def _stored(statement: ast.stmt, keeper: Keeper) -> Iterator[tuple[ast.expr | None, str]]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        hooks = [node.body for node in ast.walk(statement) if isinstance(node, ast.Lambda)]
        for call in (statement.value, *hooks):
            yield from _stored_by(call, keeper)
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AugAssign) else targets
    for target, value in _pairs(targets, getattr(statement, "value", None)):
        plain = _without_key(target)
        is_made_here = _is_new_container(value) and not isinstance(statement, ast.AugAssign)
        if _last(plain) == keeper.name and (plain is target or keeper.container) and not is_made_here:
            yield value, ast.unparse(plain)


def _stored_by(call: ast.expr, keeper: Keeper) -> Iterator[tuple[ast.expr | None, str]]:
    """What `kept.append(x)` and its like put under the keeper's name."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not keeper.container:
        return
    if call.func.attr in STORING and call.args:
        receiver = _without_key(call.func.value)
        if _last(receiver) == keeper.name:
            yield call.args[-1], ast.unparse(receiver)


def _is_new_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.DictComp):
        return _is_new_container(value.value)
    if isinstance(value, ast.ListComp):
        return _is_new_container(value.elt)
    is_maker = isinstance(value, ast.Call) and called_name(value) in ("defaultdict", "deque", "OrderedDict")
    return is_maker or isinstance(value, (ast.List, ast.Dict, ast.Tuple))


def _pairs(targets: list[ast.expr], value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What each target is given; the parts of `a, b = f()` are given the call."""
    for target in targets:
        if isinstance(target, ast.Tuple):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            values = value.elts if same and isinstance(value, ast.Tuple) else [value] * len(target.elts)
            yield from zip(target.elts, values, strict=True)
        else:
            yield target, value


def _without_key(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
