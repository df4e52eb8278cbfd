"""Warnings raised below a call that we stand in: their place is the user's line, as it would be without us."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch.overrides import handle_torch_function

from torchmedic.probes.source.frames import is_own_file, outward

_HANDED_ON = handle_torch_function.__code__


def place_warnings_at_callers() -> None:
    """Python names the line that called the function that warns, or one further out: it may be one of ours."""
    show = warnings._showwarnmsg  # type: ignore[attr-defined]

    def shown(message: Any) -> None:
        frames = list(_behind(message)) if is_own_file(message.filename) else []
        caller = _caller(frames)
        if caller is None:
            show(message)
            return
        # What was said at our line may be said at other lines of the user's.
        frames[0].f_globals.get("__warningregistry__", {}).clear()
        warnings.warn_explicit(
            message.message,
            message.category,
            caller.f_code.co_filename,
            caller.f_lineno,
            caller.f_globals.get("__name__") or "<unknown>",
            caller.f_globals.setdefault("__warningregistry__", {}),
            source=message.source,
        )

    warnings._showwarnmsg = shown  # type: ignore[attr-defined]


def _caller(frames: list[FrameType]) -> FrameType | None:
    """The first frame that is not ours; not those through which a function of torch's hands its call to a mode."""
    coming = iter(frames)
    for frame in coming:
        if frame.f_code is _HANDED_ON:
            next(coming, None)
        elif not is_own_file(frame.f_code.co_filename):
            return frame
    return None


def _behind(message: Any) -> Iterator[FrameType]:
    """The frame that a warning names, and those that called it."""
    found = False
    for frame in outward(sys._getframe(2)):
        found = found or (frame.f_code.co_filename == message.filename and frame.f_lineno == message.lineno)
        if found:
            yield frame
