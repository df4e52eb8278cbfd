"""What is alive whenever the same moment comes again, and whether it grows from time to time."""

from __future__ import annotations

from collections import Counter

from torchmedic.checkups.memory.ledger import Ledger
from torchmedic.facts import Location
from torchmedic.facts.memory_plan import Hoarded

_LEAST = 1 << 20
_LEAST_SHARE = 0.002
_SURE = 2
_SAME = 0.1


class Hoard:
    """The bytes held at the ends of steps, or before the batches of a loader, with the lines that made them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._held: list[int] = []
        self._lines: list[Counter[Location | None]] = []

    def weigh(self) -> None:
        """The moment has come again."""
        self._held.append(self._ledger.allocator.allocated)
        lines: Counter[Location | None] = Counter()
        for holding in self._ledger.holdings():
            lines[holding.where] += holding.bytes
        self._lines = [*self._lines[-1:], lines]

    @property
    def grew(self) -> bool:
        """Whether more is held than the time before."""
        return len(self._held) > 1 and self._grown(-1) > max(_LEAST, _LEAST_SHARE * self._ledger.peak)

    @property
    def is_sure(self) -> bool:
        """Whether it grew by as much several times: what the first time leaves behind may stay alone."""
        if not self.grew or len(self._held) <= _SURE + 1:
            return False
        last = self._grown(-1)
        return all(abs(self._grown(-1 - n) - last) <= _SAME * last for n in range(_SURE))

    def found(self, what: str, left: int = 0) -> Hoarded | None:
        """What is to be said: `left` are the times still to come, 0 where not known."""
        if not self.is_sure:
            return None
        grown = self._lines[-1] - self._lines[-2]
        where = max(grown, key=lambda line: grown[line], default=None)
        return Hoarded(what=what, bytes=self._grown(-1), where=where, left=left)

    def _grown(self, last: int) -> int:
        return self._held[last] - self._held[last - 1]
