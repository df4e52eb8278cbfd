"""The line that asks for another mode: the call of a helper, where the helper does nothing but switch."""

from __future__ import annotations

import ast
import functools
from types import CodeType, FrameType

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, function_of
from torchmedic.probes.source.frames import COMPREHENSIONS, location_of, user_frame

_SWITCHES = frozenset(("eval", "train", "set_grad_enabled"))


def switching_line(frame: FrameType | None) -> Location | None:
    """Where a mode is switched; `def val_start(self): self.net.eval()` is called where an evaluation begins."""
    user, switches = user_frame(frame), _SWITCHES
    while user is not None and (_is_within(user.f_code) or _does_nothing_else(user.f_code, switches)):
        outer = user_frame(user.f_back) if user.f_back is not None else None
        if outer is None:
            break
        switches |= {user.f_code.co_name}
        user = outer
    return location_of(user) if user is not None else None


def _is_within(code: CodeType) -> bool:
    """Whether this is the body of a comprehension, which is a line of the function around it."""
    return code.co_name in (*COMPREHENSIONS, "<genexpr>")


@functools.lru_cache(maxsize=256)
def _does_nothing_else(code: CodeType, switches: frozenset[str]) -> bool:
    function = function_of(code)
    return function is not None and all(_is_switch(statement, switches | {code.co_name}) for statement in function.body)


def _is_switch(statement: ast.stmt, switches: frozenset[str]) -> bool:
    """Whether a statement switches, chooses what to switch, or refuses to; what it is asked for decides the mode."""
    if isinstance(statement, (ast.For, ast.If)):
        return all(_is_switch(inner, switches) for inner in (*statement.body, *statement.orelse))
    if isinstance(statement, (ast.Pass, ast.Continue, ast.Raise, ast.Assert)):
        return True
    if isinstance(statement, (ast.Expr, ast.Return)):
        return _is_plain(statement.value) or all(_calls_switch(one, switches) for one in _chosen(statement.value))
    return isinstance(statement, ast.Assign) and _is_plain(statement.value)


def _chosen(value: ast.expr | None) -> tuple[ast.expr | None, ...]:
    """The calls that one expression makes: both sides of `a if b else c`, each element of a list."""
    if isinstance(value, ast.IfExp):
        return (*_chosen(value.body), *_chosen(value.orelse))
    if isinstance(value, ast.Tuple):
        return tuple(chosen for element in value.elts for chosen in _chosen(element))
    return _chosen(value.elt) if isinstance(value, ast.ListComp) else (value,)


def _is_plain(value: ast.expr | None) -> bool:
    return isinstance(value, (ast.Name, ast.Constant, ast.Attribute, type(None)))


def _calls_switch(value: ast.expr | None, switches: frozenset[str]) -> bool:
    return isinstance(value, ast.Call) and called_name(value) in switches
