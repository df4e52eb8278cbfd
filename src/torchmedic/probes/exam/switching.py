"""The line that asks for another mode: the call of a helper, where the helper does nothing but switch."""

from __future__ import annotations

import ast
import functools
from types import CodeType, FrameType

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, function_of
from torchmedic.probes.source.frames import location_of, user_frame

_SWITCHES = ("eval", "train")


def switching_line(frame: FrameType | None) -> Location | None:
    """Where a mode is switched; `def val_start(self): self.net.eval()` is called where an evaluation begins."""
    user = user_frame(frame)
    while user is not None and _does_nothing_else(user.f_code):
        outer = user_frame(user.f_back) if user.f_back is not None else None
        if outer is None:
            break
        user = outer
    return location_of(user) if user is not None else None


@functools.lru_cache(maxsize=256)
def _does_nothing_else(code: CodeType) -> bool:
    function = function_of(code)
    return function is not None and all(_is_switch(statement) for statement in function.body)


def _is_switch(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For):
        return all(_is_switch(inner) for inner in statement.body)
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, ast.Return) and isinstance(statement.value, (ast.Name, type(None)))
    value = statement.value
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and called_name(value) in _SWITCHES)
