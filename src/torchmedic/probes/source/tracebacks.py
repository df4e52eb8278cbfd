"""Takes frames out of a traceback that stand in it only because we listen."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

_LONGEST_CHAIN = 100
_armed: list[bool] = []


def hide_mode(error: BaseException) -> None:
    """Take the frame of a function mode out of a traceback, before a bare `raise`.

    A function of torch that is written in Python hands its call to the mode and is called by it a second time: the
    frames of its first call join the traceback after this, and are taken out when Python comes to show it.
    """
    trace = error.__traceback__
    if trace is not None and trace.tb_frame is sys._getframe(1):
        error.__traceback__ = trace.tb_next
    if not _armed:
        # It cannot be taken back, and every opened file asks it: only a script in which something fails gets it.
        _armed.append(True)
        sys.addaudithook(_before_shown)


def _before_shown(event: str, told: tuple[Any, ...]) -> None:
    if event == "sys.excepthook":
        without_handing_on(told[2])


def without_handing_on(error: object) -> None:
    """Leave one frame of each function of torch that was called twice, also in the exceptions behind this one."""
    behind: object = error
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(behind, BaseException):
            return
        _shorten(behind.__traceback__)
        behind = behind.__cause__ or behind.__context__


def _shorten(trace: TracebackType | None) -> None:
    while trace is not None:
        while (again := _second_call(trace.tb_next)) is not None:
            trace.tb_next = again
        trace = trace.tb_next


def _second_call(first: TracebackType | None) -> TracebackType | None:
    """The call by which a function of torch was entered again, with no frame but torch's own in between."""
    between = first.tb_next if first is not None else None
    again = between.tb_next if between is not None else None
    if first is None or between is None or again is None or again.tb_frame.f_code is not first.tb_frame.f_code:
        return None
    code = between.tb_frame.f_code
    is_torchs = between.tb_frame.f_globals.get("__name__") == "torch.overrides"
    return again if is_torchs and code.co_name == "handle_torch_function" else None
