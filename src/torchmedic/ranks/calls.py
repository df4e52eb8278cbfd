"""The last collectives of a process in a small file that is memory to it, so that they outlive any death.

A ring of fixed slots: a slot is written before its call and marked when the call has returned.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from torchmedic.facts import CollectiveCall, Location

CALLS = "collectives"
SLOTS = 64
_SLOT = 512
_OPEN, _DONE = b"+", b"="


class CallRing:
    """Writes calls; one slice assignment each, no system call."""

    def __init__(self, folder: Path) -> None:
        with (folder / CALLS).open("w+b") as file:
            file.truncate(SLOTS * _SLOT)
            self._memory = mmap.mmap(file.fileno(), SLOTS * _SLOT)
        self.count = 0

    def begin(self, op: str, form: str, where: Location | None, step: int, at: float) -> int:
        """Write a call down before it is made; returns its number."""
        self.count += 1
        place = f"{where.file}\t{where.line}\t{where.function}\t{where.source}" if where else "\t0\t\t"
        text = f"{self.count}\t{op}\t{form}\t{step}\t{at:.3f}\t{place}".encode()[: _SLOT - 2]
        start = self.count % SLOTS * _SLOT
        self._memory[start : start + _SLOT] = _OPEN + text.ljust(_SLOT - 1, b"\0")
        return self.count

    def end(self, number: int) -> None:
        """The call has returned."""
        start = number % SLOTS * _SLOT
        self._memory[start : start + 1] = _DONE


def read_calls(folder: Path) -> tuple[CollectiveCall, ...]:
    """What a process wrote, oldest first; empty where it wrote nothing."""
    try:
        memory = (folder / CALLS).read_bytes()
    except OSError:
        return ()
    slots = (memory[start : start + _SLOT] for start in range(0, len(memory), _SLOT))
    found = (_read(slot) for slot in slots)
    return tuple(sorted((call for call in found if call is not None), key=lambda call: call.number))


def _read(slot: bytes) -> CollectiveCall | None:
    fields = slot[1:].rstrip(b"\0").decode(errors="replace").split("\t")
    if slot[:1] not in (_OPEN, _DONE) or len(fields) != 9:
        return None
    number, op, form, step, at, file, line, function, source = fields
    where = Location(file=file, line=int(line), function=function, source=source) if file else None
    return CollectiveCall(
        number=int(number),
        op=op,
        form=form,
        where=where,
        step=int(step),
        at=float(at),
        done=slot[:1] == _DONE,
    )
