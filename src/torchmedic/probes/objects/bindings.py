"""What the names in the user's frames are bound to, as marks that change when a loop goes round."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sized
from types import FrameType
from typing import Any

from torchmedic.probes.source.frames import is_user_file, names_in, outward

_MOST_FRAMES = 8
_OWN_AND_FRAME = 3  # references to a dictionary of locals: the frame's, our name for it, the argument


def bindings(frame: FrameType | None) -> tuple[Any, ...]:
    """One mark for each name in the user's frames: a thread on the same line with other marks has moved."""
    own = [f for f in outward(frame) if is_user_file(f.f_code.co_filename)][:_MOST_FRAMES]
    return tuple(mark for f in own for mark in _marks(f))


def _marks(frame: FrameType) -> list[Any]:
    return [_mark(thing) for thing in locals_of(frame).values()]


def locals_of(frame: FrameType) -> dict[str, Any]:
    """What the names of a running function stand for, without a trace left in its frame."""
    found = dict(names_in(frame))
    names = frame.f_locals
    is_copy = isinstance(names, dict) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if is_copy and sys.getrefcount(names) <= _OWN_AND_FRAME:
        # Before Python 3.13 a function's frame keeps the copy, and with it every tensor in it.
        names.clear()
    return found


def _mark(thing: Any) -> Any:
    if isinstance(thing, (int, float, str)):
        return thing
    return id(thing), len(thing) if type(thing).__module__ == "builtins" and isinstance(thing, Sized) else 0
