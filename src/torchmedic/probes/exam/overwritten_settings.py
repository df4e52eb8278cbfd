"""Lines of the user's code that overwrite a setting of a module for an evaluation, and that nothing takes back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.rows import tokens
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_EVALUATING = frozenset(
    {
        "eval",
        "evaluate",
        "evaluation",
        "val",
        "valid",
        "validate",
        "validation",
        "test",
        "predict",
        "infer",
        "inference",
    }
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@late_dataclass(frozen=True)
class Overwriting:
    """The one line outside of all `__init__` that gives an attribute a value, and whose: of any class where empty."""

    attribute: str
    owner: str
    where: Location
    text: str


def overwritings() -> list[Overwriting]:
    found: list[Overwriting] = []
    lines: dict[str, int] = {}
    for file in user_files():
        tree = parsed(file)
        for scope, function in _functions(tree) if tree is not None else ():
            for statement in ast.walk(function) if function.name != "__init__" else ():
                for attribute in _set_by(statement):
                    lines[attribute] = lines.get(attribute, 0) + 1
            found += list(_in_function(file, scope, function))
    return [one for one in found if lines.get(one.attribute) == 1]


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions with the class that they are methods of."""
    owner = {id(part): node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield owner.get(id(node), ""), node


def _in_function(file: str, scope: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Overwriting]:
    for branch in _evaluation_branches(function) if scope else ():
        inside = {id(node) for statement in branch for node in ast.walk(statement)}
        outside = (n for n in ast.walk(function) if isinstance(n, ast.Attribute) and id(n) not in inside)
        read = {n.attr for n in outside if _is_own(n) and isinstance(n.ctx, ast.Load)}
        for statement in filter(_sets_constant, branch):
            for attribute in _set_by(statement):
                if attribute in read and _is_own(statement.targets[0]):  # type: ignore[attr-defined]
                    yield _told(file, scope, scope, statement, function.name, attribute)
    if tokens(function.name) & _EVALUATING:
        for statement in filter(_sets_constant, _unconditional(function.body)):
            for attribute in _set_by(statement):
                yield _told(file, "", scope, statement, function.name, attribute)


def _told(file: str, owner: str, scope: str, statement: ast.stmt, function: str, attribute: str) -> Overwriting:
    place = location(file, statement.lineno, f"{scope}.{function}" if scope else function)
    return Overwriting(attribute, owner, place, ast.unparse(statement))


def _sets_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)


def _set_by(statement: ast.AST) -> list[str]:
    """The attributes that an assignment gives their value."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return []
    inner = [n for n in ast.walk(statement) if isinstance(n, ast.Attribute)]
    return [n.attr for n in inner if isinstance(n.ctx, ast.Store)]


def _evaluation_branches(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[list[ast.stmt]]:
    """What runs only while `self.training` is false."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and _is_mode(node.test):
            yield node.orelse
        elif isinstance(node, ast.If) and isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            yield node.body if _is_mode(node.test.operand) else []


def _unconditional(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run whatever is found: also in loops and blocks, and where only the kind of a thing is asked."""
    for statement in body:
        yield statement
        is_kind = isinstance(statement, ast.If) and "isinstance(" in ast.unparse(statement.test)
        if isinstance(statement, (ast.For, ast.With)) or is_kind:
            yield from _unconditional(statement.body)  # type: ignore[attr-defined]


def _is_mode(test: ast.expr) -> bool:
    return _is_own(test) and test.attr == "training"  # type: ignore[attr-defined]


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
