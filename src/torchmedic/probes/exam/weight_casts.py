"""Which line of the user's had weights cast to a short format: by its own call, or by what it told a library."""

from __future__ import annotations

import ast
import functools
import re
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import enclosing_function, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, location_of, outward, package_below, user_frame
from torchmedic.probes.source.sources import user_nodes

SHORT = (torch.bfloat16, torch.float16)
_METHODS = ("to", "half", "bfloat16", "type")
_CASTS = {"bfloat16": torch.bfloat16, "half": torch.float16}
_OPTIONS = ("precision", "torch_dtype", "param_dtype", "weights_dtype")
# What an option says of the weights themselves: "bf16-mixed" leaves them as they are.
_OF_WEIGHTS = {
    torch.bfloat16: re.compile(r"bf16-true|bfloat16|torch\.bfloat16"),
    torch.float16: re.compile(r"16-true|float16|half|torch\.float16"),
}


@late_dataclass(frozen=True)
class _Cast:
    module: weakref.ref[nn.Module]
    to: torch.dtype
    where: Location | None
    by_library: bool


class WeightCasts:
    """Notes every call that gives the parameters of a module a short format."""

    def __init__(self) -> None:
        self._casts: list[_Cast] = []
        self._patches = Patches()
        for name in _METHODS:
            self._watch(name)

    def restore(self) -> None:
        self._patches.restore()

    def cast_at(self, parameter: torch.Tensor) -> Location | None:
        """The line to edit if a parameter is to be kept in float32; None where nothing has cast it."""
        cast = next(
            (cast for cast in self._casts if cast.to is parameter.dtype and _holds(cast.module(), parameter)), None
        )
        if cast is None:
            return _cast_in_sight(parameter, sys._getframe(1))
        told = _told(cast.to, sys._getframe(1)) if cast.by_library else None
        return told or cast.where

    def _watch(self, name: str) -> None:
        original = getattr(nn.Module, name)

        @functools.wraps(original)
        def watched(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            before = _format(module)
            with frame_hidden:
                result = original(module, *args, **kwargs)
            now = _format(module)
            if now is not before and now in SHORT:
                user = user_frame()
                where = location_of(user) if user is not None else None
                self._casts.append(_Cast(weakref.ref(module), now, where, bool(package_below(user))))
            return result

        self._patches.replace(nn.Module, name, watched)


def _format(module: nn.Module) -> torch.dtype | None:
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), None)


def _told(dtype: torch.dtype, frame: FrameType) -> Location | None:
    """The line that gives a library an option which asks for weights of this format, where there is one such line."""
    running = [each for each in outward(frame) if is_user_file(each.f_code.co_filename)]
    found = {
        location(file, option.value.lineno)
        for file, node in user_nodes()
        if isinstance(node, ast.Call)
        for option in node.keywords
        if option.arg in _OPTIONS and any(_asks_for(dtype, v) for v in _values(option.value, file, running))
    }
    return next(iter(found)) if len(found) == 1 else None


def _values(node: ast.expr, file: str, running: list[FrameType]) -> Iterator[Any]:
    """What an expression stands for, as far as a name of a function that still runs, or a constant, can tell."""
    if isinstance(node, ast.Constant):
        yield node.value
        return
    yield from (peek(node, frame) for frame in running if frame.f_code.co_filename == file)


def _asks_for(dtype: torch.dtype, value: Any) -> bool:
    return value is dtype or (isinstance(value, str) and _OF_WEIGHTS[dtype].fullmatch(value) is not None)


def _cast_in_sight(parameter: torch.Tensor, frame: FrameType) -> Location | None:
    """The line of a running function, or of the script, that casts a module with this parameter to its short format."""
    for each in outward(frame):
        file = each.f_code.co_filename
        tree = parsed(file) if is_user_file(file) else None
        for node in ast.walk(enclosing_function(tree, each)) if tree is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = peek(node.func.value, each)
                if _format_of(node, node.func.attr, each) is parameter.dtype and _holds(held, parameter):
                    return location(file, node.func.end_lineno or node.lineno, each.f_code.co_qualname)
    return None


def _format_of(call: ast.Call, method: str, frame: FrameType) -> Any:
    """The format that `x.half()` or `x.to(device, torch.half)` asks for; None where it asks for none."""
    if method not in ("to", "type"):
        return _CASTS.get(method)
    given = (peek(argument, frame) for argument in (*call.args, *(keyword.value for keyword in call.keywords)))
    return next((value for value in given if isinstance(value, torch.dtype)), None)


def _holds(held: Any, parameter: torch.Tensor) -> bool:
    return isinstance(held, nn.Module) and any(p is parameter for p in held.parameters())
