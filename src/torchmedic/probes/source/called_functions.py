"""What a function was given that has returned since: its names are bound again, as its call would bind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, Protocol

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import MISSING, Scope, function_of, peek
from torchmedic.probes.source.frames import is_user_file

_MOST_CALLS = 200
_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)


class Names(Scope, Protocol):
    """Names with the code that they belong to."""

    @property
    def f_code(self) -> CodeType: ...


@late_dataclass(frozen=True)
class _Bound:
    f_code: CodeType
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]


@late_dataclass(frozen=True)
class Called:
    """The names of a call as they stood when it began, and the statements that it has run for certain."""

    names: Names
    body: list[ast.stmt]


def calls_of(scope: ast.AST, before: int) -> Iterator[ast.Call]:
    """The calls in the statements of a function or module above a line whose arguments are still what they were."""
    body = [statement for statement in getattr(scope, "body", []) if statement.lineno < before]
    calls = (node for s in _certain(body) for node in ast.walk(s) if isinstance(node, ast.Call))
    named = [call for call in calls if isinstance(call.func, ast.Name) and not call.keywords and call.args]
    bound = bound_at(scope)
    for call in named[:_MOST_CALLS]:
        if not any(bound.get(ast.unparse(argument), 0) >= call.lineno for argument in call.args):
            yield call


def bound_at(scope: ast.AST) -> dict[str, int]:
    """The last line that gives a name, an attribute or an item of it a value."""
    lines: dict[str, int] = {}
    for node in ast.walk(scope):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            text = ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
            lines[text] = max(lines.get(text, 0), node.lineno)
    return lines


def call_again(call: ast.Call, frame: FrameType) -> Called | None:
    """Bind the parameters of a user's function to what the names in its call hold; nothing is run."""
    function = peek(call.func, frame)
    if type(function) is not FunctionType or not is_user_file(function.__code__.co_filename):
        return None
    definition, code = function_of(function.__code__), function.__code__
    if definition is None or definition.decorator_list or len(call.args) > code.co_argcount:
        return None
    given = [peek(a, frame) if isinstance(a, (ast.Name, ast.Attribute)) else MISSING for a in call.args]
    # A name that is bound anew has another value by the time it is read.
    stored = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *stored), MISSING)
    names |= {n: value for n, value in zip(code.co_varnames, given, strict=False) if n not in stored}
    return Called(_Bound(code, names, function.__globals__), list(_certain(definition.body)))


def _certain(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run whatever holds: those outside of branches, up to one that may leave the function."""
    for statement in body:
        if not isinstance(statement, _BRANCHES):
            yield statement
        elif any(isinstance(node, (ast.Return, ast.Raise)) for node in ast.walk(statement)):
            return
