"""Finds the user's function that handed back None while a sample was being fetched."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.frames import is_user_file, location, outward

_MOST = 200
_RETURNING = frozenset(dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap)
_POP_TOP = dis.opmap["POP_TOP"]


@late_dataclass(frozen=True)
class Return:
    """A function that returned None, or something with a None in it, and the user's functions around the call."""

    code: CodeType
    line: int
    callers: tuple[CodeType, ...]
    is_none: bool


class NoneReturns:
    """Watches the ends of the user's functions, sample by sample; lines are not looked at."""

    def __init__(self) -> None:
        self._by_sample: list[list[Return]] = []
        self._around = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """While one sample is fetched."""
        self._by_sample.append([])
        self._around = len(_user_codes(sys._getframe(1)))
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        if not is_user_file(frame.f_code.co_filename):
            return None
        frame.f_trace_lines = False
        return self._within

    def _within(self, frame: FrameType, event: str, arg: Any) -> Any:
        found = self._by_sample[-1]
        if event == "return" and len(found) < _MOST and _holds_none(arg) and _really_returns(frame):
            callers = _user_codes(frame.f_back)
            inner = callers[: len(callers) - self._around]
            found.append(Return(frame.f_code, frame.f_lineno or 0, inner, arg is None and _is_used(frame)))
        return self._within

    def behind(self, empty: Sequence[int], full: Sequence[int]) -> Location | None:
        """The function whose None came through in an `empty` sample, and which gave none for any of the `full` ones."""
        innocent = {(r.code, r.line) for i in full for r in self._by_sample[i]}
        for position in empty:
            returned = self._by_sample[position]
            handed_on = {r.code for r in returned}
            for r in returned:
                if r.is_none and (r.code, r.line) not in innocent and handed_on.issuperset(r.callers):
                    return location(r.code.co_filename, r.line, r.code.co_qualname)
        return None


def _user_codes(frame: FrameType | None) -> tuple[CodeType, ...]:
    return tuple(f.f_code for f in outward(frame) if is_user_file(f.f_code.co_filename))


def _holds_none(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None for item in value.values())
    return value is None or (isinstance(value, (tuple, list)) and any(item is None for item in value))


def _really_returns(frame: FrameType) -> bool:
    """Not a `yield`, and not an end by an exception."""
    return frame.f_code.co_code[frame.f_lasti] in _RETURNING


def _is_used(frame: FrameType) -> bool:
    """Whether the caller does something with the answer, as far as its next instruction tells."""
    caller = frame.f_back
    if frame.f_code.co_name == "__init__":
        return False
    if caller is None or not is_user_file(caller.f_code.co_filename):
        return True
    following = caller.f_code.co_code[caller.f_lasti + 2 :: 2]
    return next((op for op in following if op != 0), _POP_TOP) != _POP_TOP
