"""Helpers of the rules on answers and targets: pairings grouped by line."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossPairing, Run

LATE = 100


def by_line(run: Run) -> Iterator[list[LossPairing]]:
    """All pairings of one line, loss function and pair of names, in the order of the run."""
    groups: dict[tuple[object, ...], list[LossPairing]] = {}
    for seen in run.all(LossPairing):
        place = (seen.where.file, seen.where.line) if seen.where else None
        groups.setdefault((place, seen.function, seen.names), []).append(seen)
    yield from groups.values()


def gain(pairings: list[LossPairing]) -> float:
    """By how much the loss grows, relative to its size, when targets meet the answers for other samples."""
    loss = sum(abs(seen.loss) for seen in pairings)
    return sum(seen.others - seen.loss for seen in pairings) / loss if loss else 0.0
