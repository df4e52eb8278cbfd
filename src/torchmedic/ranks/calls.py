"""The last collectives of a process in a small file that is memory to it, so that they outlive any death.

A ring of fixed slots: a slot is written before its call and marked when the call has returned.
"""

from __future__ import annotations

import contextlib
import json
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchmedic.facts import CollectiveCall, Location, Nest, from_plain, to_plain

CALLS = "collectives"
CHAINS = "chains"
SLOTS = 64
_SLOT = 512
_MOST_CHAINS = 500
_OPEN, _DONE = b"+", b"="


class CallRing:
    """Writes calls; one slice assignment each, no system call."""

    def __init__(self, folder: Path) -> None:
        with (folder / CALLS).open("w+b") as file:
            file.truncate(SLOTS * _SLOT)
            self._memory = mmap.mmap(file.fileno(), SLOTS * _SLOT)
        self.count = 0
        self._chains: dict[tuple[Any, ...], int] = {}  # by the lines
        self._chain_file = folder / CHAINS

    def chain(self, lines: tuple[Any, ...], nests: Callable[[], tuple[Nest, ...]]) -> int:
        """The number of the lines that lead to a call; what they lie in is written down when they are new."""
        number = self._chains.get(lines, 0)
        if not number and len(self._chains) < _MOST_CHAINS:
            number = self._chains[lines] = len(self._chains) + 1
            with self._chain_file.open("a") as file:
                file.write(json.dumps([to_plain(nest) for nest in nests()]) + "\n")
        return number

    def begin(
        self,
        op: str,
        form: str,
        where: Location | None,
        step: int,
        at: float,
        *,
        taken: tuple[int, int] = (0, 0),
        chain: int = 0,
    ) -> int:
        """Write a call down before it is made; returns its number.

        `taken` are the batches that were received before, and the passes over loaders they came in.
        """
        self.count += 1
        place = f"{where.file}\t{where.line}\t{where.function}\t{where.source}" if where else "\t0\t\t"
        text = f"{self.count}\t{op}\t{form}\t{step}\t{at:.3f}\t{taken[0]}\t{taken[1]}\t{chain}\t{place}".encode()[
            : _SLOT - 2
        ]
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
    chains = _read_chains(folder)
    found = (_read(slot, chains) for slot in slots)
    return tuple(sorted((call for call in found if call is not None), key=lambda call: call.number))


def _read_chains(folder: Path) -> list[tuple[Nest, ...]]:
    """What the lines of each chain lie in, by their numbers; the first is that of no chain."""
    found: list[tuple[Nest, ...]] = [()]
    with contextlib.suppress(OSError, ValueError):
        for line in (folder / CHAINS).read_text().splitlines():
            found.append(tuple(from_plain(Nest, plain) for plain in json.loads(line)))
    return found


def _read(slot: bytes, chains: list[tuple[Nest, ...]]) -> CollectiveCall | None:
    fields = slot[1:].rstrip(b"\0").decode(errors="replace").split("\t")
    if slot[:1] not in (_OPEN, _DONE) or len(fields) != 12:
        return None
    number, op, form, step, at, batches, passes, chain, file, line, function, source = fields
    where = Location(file=file, line=int(line), function=function, source=source) if file else None
    return CollectiveCall(
        number=int(number),
        op=op,
        form=form,
        where=where,
        step=int(step),
        at=float(at),
        done=slot[:1] == _DONE,
        batches=int(batches),
        passes=int(passes),
        nests=chains[int(chain)] if int(chain) < len(chains) else (),
    )
