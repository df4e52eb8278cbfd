"""The loop around a training step: found by frame and source, with the names that its body carries on."""

from __future__ import annotations

import ast
import ctypes
import sys
from types import CodeType, FrameType
from typing import Any

from torch import nn

from torchmedic.probes.source.frames import is_own_file, line_of, names_in
from torchmedic.probes.source.loops import Loop, innermost_loop

_MOST_PLACES = 1024


def find_loop(frame: FrameType | None, must_hold: dict[int, int]) -> tuple[FrameType, Loop] | None:
    """The nearest frame whose loop holds the present line and the lines where the step's work was done.

    `must_hold` maps `id(frame)` to the instruction at which that frame stood during `backward`; frames of ours that
    have ended since may share their `id` with a newer one.
    """
    while frame is not None:
        instruction = must_hold.get(id(frame))
        if instruction is not None:
            loop = _loop_around(frame.f_code, frame.f_lasti, instruction)
            if loop is not None:
                return frame, loop
        frame = frame.f_back
    return None


# Kept with its code, so that no other code can have the same `id`.
_around: dict[tuple[int, int, int], tuple[CodeType, Loop | None]] = {}


def _loop_around(code: CodeType, now: int, then: int) -> Loop | None:
    """The innermost loop that holds two instructions, looked up once: hashing a code object costs too much."""
    key = (id(code), now, then)
    known = _around.get(key)
    if known is None:
        if len(_around) >= _MOST_PLACES:
            _around.clear()
        is_ours = is_own_file(code.co_filename)
        lines = (line_of(code, now), line_of(code, then))
        known = _around[key] = (code, None if is_ours else innermost_loop(code, lines))
    return known[1]


def forward_line(frame: FrameType, loop: Loop) -> int | None:
    """The first statement of the body that calls a module: where a step begins once its batch is drawn."""
    for statement in loop.body:
        if any(_calls_a_module(node, frame) for node in ast.walk(statement) if isinstance(node, ast.Call)):
            return statement.lineno
    return None


def _calls_a_module(call: ast.Call, frame: FrameType) -> bool:
    path: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    thing = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    for name in reversed(path):
        if isinstance(thing, nn.Module):
            return True
        thing = vars(thing).get(name) if hasattr(thing, "__dict__") else None
    return isinstance(thing, nn.Module)


def read_names(frame: FrameType, names: frozenset[str]) -> dict[str, Any]:
    """Present values of some names of a frame, without leaving references behind."""
    values = frame.f_locals
    known = names_in(frame)
    found = {name: known[name] for name in names if name in known}
    if frame.f_code.co_name != "<module>" and sys.version_info < (3, 13) and sys.gettrace() is None:
        # Up to 3.12 this dictionary stays with the frame and would keep every local alive. Under a trace function
        # it is written back into the frame, so there it must stay whole.
        values.clear()
    return found


def write_names(frame: FrameType, names: dict[str, Any]) -> None:
    """Rebind names in a running frame."""
    if not names:
        return
    if frame.f_code.co_name == "<module>":
        # Its `f_locals` is a copy as long as the variable of a comprehension is bound, which a jump does on 3.12.
        frame.f_globals.update(names)
        return
    values = frame.f_locals
    values.update(names)
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def targets_from_batch(loop: Loop, batch: Any) -> dict[str, Any]:
    """What the `for` bound, worked out from the batch it was handed; `{}` where the pattern does not fit."""
    target = loop.target
    if loop.iterates_enumerate and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    bound: dict[str, Any] = {}
    return bound if target is not None and _bind(target, batch, bound) else {}


def _bind(target: ast.expr, value: Any, bound: dict[str, Any]) -> bool:
    if isinstance(target, ast.Name):
        bound[target.id] = value
        return True
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)):
        return len(target.elts) == len(value) and all(
            _bind(part, item, bound) for part, item in zip(target.elts, value, strict=True)
        )
    return False
