"""For how long a thread has been at work in one function of the user's, without a step and without torch."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from torchmedic.probes.source.frames import is_user_file, outward

_TORCH = f"{os.sep}torch{os.sep}"


class Work:
    """Remembers since when each look has met the same call of the same function, and nothing of torch below it."""

    def __init__(self) -> None:
        self._mark: tuple[Any, ...] = ()
        self._since = 0.0

    def look(self, frame: FrameType | None, step: int, now: float) -> float:
        """The seconds so far."""
        mark = (step, *_place(frame))
        if mark != self._mark or len(mark) == 1:
            self._mark, self._since = mark, now
        return now - self._since


def _place(frame: FrameType | None) -> tuple[Any, ...]:
    """The innermost call of a function of the user's; empty where it is in torch, which may be at work on a batch."""
    for at in outward(frame):
        if is_user_file(at.f_code.co_filename):
            return (id(at), at.f_code)
        if _TORCH in at.f_code.co_filename:
            return ()
    return ()
