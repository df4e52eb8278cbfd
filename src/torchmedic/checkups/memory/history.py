"""From the history that torch keeps of a true card's memory to the pieces that were held at the peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchmedic.checkups.memory.ledger import Holding, Log, held_after
from torchmedic.facts import Location
from torchmedic.probes.source.frames import is_user_file, location


@dataclass(frozen=True)
class Label:
    """What the piece of memory at an address is."""

    category: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Mark:
    """What the script was doing from a moment on (microseconds of the clock that dates the history)."""

    time: int
    phase: str
    step: int
    module: str
    labels: Mapping[int, Label] = field(default_factory=dict)


_WORK = ("forward", "backward", "optimizer")
_BEGINNING = Mark(time=0, phase="setup", step=0, module="")


class History:
    """Pieces of memory as they were taken and given back, each with its phase, module and line."""

    def __init__(self, events: Iterable[Mapping[str, Any]], marks: Sequence[Mark]) -> None:
        self.log: Log = []
        self.peak = 0
        self.peak_piece: Holding | None = None
        self._peak_at = 0
        self._now = _BEGINNING
        self._alive: dict[int, Holding] = {}
        self._held = 0
        coming = iter(marks)
        following = next(coming, None)
        for event in events:
            while following is not None and following.time <= event["time_us"]:
                self._turn(following)
                following = next(coming, None)
            self._read(event)
        for mark in (following, *coming):
            if mark is not None:
                self._turn(mark)
        self._name_what_stayed()

    def held_at_peak(self) -> list[Holding]:
        """What was held when most was."""
        return held_after(self.log[: self._peak_at])

    def _turn(self, mark: Mark) -> None:
        if mark.phase == "backward" and self._now.phase != "backward":
            for holding in self._alive.values():
                holding.saved = holding.saved or holding.phase == "forward"
        for address, label in mark.labels.items():
            piece = self._alive.get(address)
            if piece is not None:
                piece.category, piece.shape, piece.dtype = label.category, label.shape, label.dtype
        self._now = mark

    def _name_what_stayed(self) -> None:
        """What the work of the first step took and nobody has given back since."""
        for piece in self._alive.values():
            if not piece.category and piece.step == 0 and piece.phase in _WORK:
                piece.category = "workspaces and caches"

    def _read(self, event: Mapping[str, Any]) -> None:
        address = event["addr"]
        if event["action"] == "alloc":
            where, op = _origin(event.get("frames", ()))
            now = self._now
            piece = Holding(event["size"], now.phase, now.step, now.module, where, op, (), "")
            self._alive[address] = piece
            self.log.append((True, piece))
            self._held += piece.bytes
            if self._held > self.peak:
                self.peak, self.peak_piece, self._peak_at = self._held, piece, len(self.log)
        elif event["action"] == "free_completed" and address in self._alive:
            piece = self._alive.pop(address)
            self.log.append((False, piece))
            self._held -= piece.bytes


def _origin(frames: Iterable[Mapping[str, Any]]) -> tuple[Location | None, str]:
    """The user's innermost line, and the innermost function that asked for the memory."""
    op = ""
    for frame in frames:
        op = op or str(frame["name"])
        if is_user_file(frame["filename"]):
            return location(frame["filename"], frame["line"], frame["name"]), op
    return None, op
