"""Finds the line that made what a call was given: the assignment of a variable, the `return` of a helper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location, shown_path
from torchmedic.probes.source.sources import file_at, user_files

_MOST_HOPS = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GIVING_ITSELF = frozenset(
    ("to", "cpu", "cuda", "eval", "train", "float", "double", "half", "bfloat16", "requires_grad_", "share_memory")
)


def argument_made_at(called: Location | None, callee: str, keyword: str, position: int) -> Location | None:
    """The line that made an argument of the call at a line; None where it was written there or cannot be followed.

    `callee` is the name of the class that was built, which the line may call by another name.
    """
    file = file_at(called)
    tree = parsed(file) if file else None
    if called is None or tree is None:
        return None
    line, value = called.line, _argument(tree, called.line, callee, keyword, position)
    for _ in range(_MOST_HOPS):
        made = _made(file, tree, line, value)
        if made is None:
            break
        file, tree, line, value = made
    if isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}"):
        return None  # filled somewhere else
    return (
        location(file, line, _function_name(tree, line))
        if (shown_path(file), line) != (called.file, called.line)
        else None
    )


def setting_made_at(callee: str, keyword: str) -> Location | None:
    """The line that holds the number of a setting, which one call of the user's files gives to some `…callee(…)`.

    That is the call itself where the number stands there, or where it cannot be followed further.
    """
    found = [
        (file, given.value)
        for file in user_files()
        for call in ast.walk(parsed(file) or ast.Module([], []))
        if isinstance(call, ast.Call) and called_name(call).endswith(callee)
        for given in call.keywords
        if given.arg == keyword
    ]
    if len(found) != 1:
        return None
    file, value = found[0]
    tree = parsed(file)
    for _ in range(_MOST_HOPS):
        inner = _held_number(tree, value) if tree is not None else None
        if inner is None:
            break
        value = inner
    return location(file, value.lineno, _function_name(tree, value.lineno) if tree is not None else "")


def _held_number(tree: ast.Module, value: ast.expr) -> ast.expr | None:
    """What a name, an attribute or an entry of a dict stands for, where the file gives it one value alone."""
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        table = _held_number(tree, value.value)
        return _entry(table, value.slice.value) if table is not None else None
    name = _last_name(value)
    given = [node.value for node in _assignments(tree, name) if node.value is not None] if name else []
    return given[0] if len(given) == 1 else None


def _entry(table: ast.expr, key: object) -> ast.expr | None:
    if isinstance(table, ast.Dict):
        pairs = zip(table.keys, table.values, strict=True)
        return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key), None)
    named = table.keywords if isinstance(table, ast.Call) else []
    return next((given.value for given in named if given.arg == key), None)


def assigned_later(since: Location | None, name: str) -> Location | None:
    """The first line of the same function, from a line on, that gives a variable or an attribute its value."""
    file = file_at(since)
    tree = parsed(file) if file else None
    if since is None or tree is None:
        return None
    lines = [node.lineno for node in _assignments(_scope(tree, since.line), name) if node.lineno >= since.line]
    return location(file, min(lines), since.function) if lines else None


def is_returned(at: Location | None, name: str) -> bool:
    """Whether the function around a line gives back its own variable of a name, for its caller to place."""
    file = file_at(at)
    tree = parsed(file) if file else None
    if at is None or tree is None:
        return False
    scope = _scope(tree, at.line)
    returned = (n.value for n in ast.walk(scope) if isinstance(n, ast.Return)) if scope is not tree else ()
    return any(isinstance(value, ast.Name) and value.id == name for value in returned)


def alias_line(name: str, other: str) -> Location | None:
    """The line that gives a variable or an attribute nothing but another name of the same thing."""
    short, original = name.rpartition(".")[2], other.rpartition(".")[2]
    for file in user_files():
        tree = parsed(file)
        if tree is None:
            continue
        # `a = model` and `b = model` make `a` and `b` the same thing too.
        sources = {_handed_on(node.value) for node in _assignments(tree, original) if node.value is not None}
        for node in _assignments(tree, short):
            if node.value is not None and _handed_on(node.value) in {original, *sources} - {""}:
                return location(file, node.lineno, _function_name(tree, node.lineno))
    return None


def _argument(tree: ast.Module, line: int, callee: str, keyword: str, position: int) -> ast.expr | None:
    """The argument of the call that built something on a line: the one of that name, else the only one that fits."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or 0)]
    by_name = [call for call in calls if called_name(call) == callee]
    rated = [call for call in calls if any(given.arg == "lr" for given in call.keywords)]
    fitting = by_name or rated
    if len(fitting) != 1:
        return None
    named = [given.value for given in fitting[0].keywords if given.arg == keyword]
    return next(iter(named or fitting[0].args[position : position + 1]), None)


def _made(
    file: str, tree: ast.Module, line: int, value: ast.expr | None
) -> tuple[str, ast.Module, int, ast.expr | None] | None:
    if isinstance(value, ast.Name):
        before = [node for node in _assignments(_scope(tree, line), value.id) if node.lineno < line]
        last = max(before, key=lambda node: node.lineno, default=None)
        return (file, tree, last.lineno, last.value) if last is not None else None
    if isinstance(value, ast.Attribute):
        return _computed(value.attr)
    if isinstance(value, ast.Call):
        return _returned(value)
    return None


def _computed(attribute: str) -> tuple[str, ast.Module, int, ast.expr | None] | None:
    """The only line that multiplies or divides to make an attribute, whatever object it is called by there."""
    found = [
        (file, tree, node.lineno, node.value)
        for file in user_files()
        if (tree := parsed(file)) is not None
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign) and _scales_attribute(node, attribute)
    ]
    return found[0] if len(found) == 1 else None


def _scales_attribute(node: ast.Assign | ast.AugAssign, attribute: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    computation = node.value if isinstance(node, ast.Assign) else node
    scales = isinstance(computation, ast.BinOp | ast.AugAssign) and isinstance(computation.op, ast.Mult | ast.Div)
    return scales and any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets)


def _returned(call: ast.Call) -> tuple[str, ast.Module, int, ast.expr | None] | None:
    """The only `return` of the user's own function that was called."""
    name = called_name(call)
    for file in user_files():
        tree = parsed(file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, _FUNCTIONS) and node.name == name and tree is not None:
                returns = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
                return (file, tree, returns[0].lineno, returns[0].value) if len(returns) == 1 else None
    return None


def _scope(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the module."""
    around = [n for n in ast.walk(tree) if isinstance(n, _FUNCTIONS) and n.lineno <= line <= (n.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=tree)


def _function_name(tree: ast.Module, line: int) -> str:
    scope = _scope(tree, line)
    return scope.name if isinstance(scope, _FUNCTIONS) else ""


def _assignments(scope: ast.AST, name: str) -> Iterator[ast.Assign | ast.AnnAssign]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_last_name(target) == name for target in targets):
                yield node


def _handed_on(value: ast.expr) -> str:
    """The name of a thing, be it through calls of a module that give the module itself.

    >>> [_handed_on(ast.parse(text, mode="eval").body) for text in ("self.net", "net.to(x).eval()", "Net().eval()")]
    ['net', 'net', '']
    """
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _GIVING_ITSELF:
        value = value.func.value
    entry = value.slice if isinstance(value, ast.Subscript) else None
    return str(entry.value) if isinstance(entry, ast.Constant) else _last_name(value)


def _last_name(target: ast.expr) -> str:
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
