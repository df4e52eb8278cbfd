"""The largest size that fits a card: guessed from the law, and tried before it is said."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torchmedic.checkups.memory.asking import Request
from torchmedic.checkups.memory.cards import Card
from torchmedic.cli._memory_axes import Sweep
from torchmedic.facts import MemoryPlan

_MOST_TRIES = 5
# How much of the processor everything may take, as a multiple of what the first answer took, and at any rate.
_TIMES, _SECONDS = 5, 24.0
# By the clock a busy machine takes longer, but not for ever.
_BUSY = 4
_NEAR = 0.02


@dataclass(frozen=True)
class Largest:
    """The largest size that was followed and fits (0: none did), and the smallest that was and does not.

    `all_data`: no batch of the data set is larger; `cut_short`: sizes between the two were left untried.
    """

    size: int
    too_large: int | None
    all_data: bool = False
    cut_short: bool = False


class Spent:
    """The processor's time since the question was asked, of all processes, and how much the first answer took."""

    def __init__(self) -> None:
        self._began = sum(os.times()[:4])
        self.first = 0.0

    def note_first(self) -> None:
        self.first = self._now()

    def left(self) -> float:
        return max(_SECONDS, _TIMES * self.first) - self._now()

    def _now(self) -> float:
        return sum(os.times()[:4]) - self._began


class _Search:
    def __init__(self, card: Card, found: Sweep) -> None:
        self._card, self._found = card, found
        self._plans: dict[int, MemoryPlan] = dict(zip(found.sizes, found.plans, strict=True))

    def add(self, size: int, plan: MemoryPlan) -> None:
        self._plans[size] = plan

    @property
    def largest(self) -> Largest:
        beyond = min((size for size, plan in self._plans.items() if not self._fits(plan)), default=None)
        fitting = [s for s, plan in self._plans.items() if self._fits(plan) and (beyond is None or s < beyond)]
        size = max(fitting, default=0)
        return Largest(size, beyond, all_data=beyond is None and 0 < self._found.axis.most <= size)

    def next_guess(self) -> int | None:
        """A size between the bounds, or None where they are close enough."""
        low, high = self.largest.size, self.largest.too_large
        least = max(1, int(low * _NEAR))
        if high is None:
            most = self._found.axis.most
            if most and low >= most:
                return None
            guess = max(self._by_law(low or 1), low + least)
            return min(guess, most) if most else guess
        if high - low <= least:
            return None
        guess = self._between(low, high) if low else high // 2
        return min(max(guess, low + 1), high - 1)

    def _between(self, low: int, high: int) -> int:
        """Where a line through what is reserved at the bounds meets the card; after every failure, further below."""
        at_low, at_high = self._plans[low].peak_reserved, self._plans[high].peak_reserved
        share = (self._card.usable - at_low) / max(at_high - at_low, 1)
        fits = [self._fits(plan) for plan in reversed(self._plans.values())]
        failures = fits.index(True) if True in fits else len(fits)
        return int((low + share * (high - low)) * (1 - _NEAR * 4.0**failures / 16))

    def _by_law(self, near: int) -> int:
        """Where the law meets the card; what is reserved beside the tensors is that of the nearest size."""
        nearest = self._plans[min(self._plans, key=lambda known: abs(known - near))]
        overhead = nearest.peak_reserved / max(nearest.peak_allocated, 1)
        return self._found.growth.largest_below(self._card.usable / overhead, self._found.sizes[-1])

    def _fits(self, plan: MemoryPlan) -> bool:
        return plan.peak_reserved <= self._card.usable


def largest_that_fits(command: Sequence[str], request: Request, card: Card, found: Sweep, spent: Spent) -> Largest:
    """Try sizes until the largest is known to two hundredths, or time is up."""
    search = _Search(card, found)
    for _ in range(_MOST_TRIES):
        guess, left = search.next_guess(), spent.left()
        if guess is None or left < spent.first:
            break
        # Larger batches take longer to load.
        plan = found.axis.ask(command, replace(request, patience=max(1, round(_BUSY * left))), guess)
        if plan is None or plan.lost is not None or not plan.steps:
            break
        search.add(guess, plan)
    return replace(search.largest, cut_short=search.next_guess() is not None)
