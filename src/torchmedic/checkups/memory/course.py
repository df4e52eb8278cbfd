"""How memory rises and falls within one step, by what it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchmedic.checkups.memory.ledger import Holding, Log
from torchmedic.facts.memory_plan import MemoryMoment

_MOST_MOMENTS = 240
_EARLY = ("setup", "data")


def category_of(holding: Holding) -> str:
    """What a piece of memory is for."""
    if holding.category:
        return holding.category
    if holding.phase in _EARLY:
        return "data"
    return "activations" if holding.saved else "temporaries"


def course_of(log: Log, step: int) -> tuple[MemoryMoment, ...]:
    """The moments of a step, thinned: each is the highest of as many bookings as the others."""
    length = sum(1 for _ in _moments(log, step))
    width = -(-length // _MOST_MOMENTS) or 1
    found: list[MemoryMoment] = []
    most = 0
    for number, (phase, held) in enumerate(_moments(log, step)):
        total = held.total()
        if number % width == 0:
            found.append(MemoryMoment(phase=phase, by_category=dict(held)))
            most = total
        elif total > most:
            found[-1] = MemoryMoment(phase=phase, by_category=dict(held))
            most = total
    return tuple(found)


def _moments(log: Log, step: int) -> Iterator[tuple[str, Counter[str]]]:
    """What is held after each booking of a step, with the phase; the same counter each time."""
    held: Counter[str] = Counter()
    phase, now = "setup", 0
    for is_opened, holding in log:
        held[category_of(holding)] += holding.bytes if is_opened else -holding.bytes
        if is_opened:
            phase, now = holding.phase, holding.step
        if now == step:
            yield phase, held
