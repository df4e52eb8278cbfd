"""The weights of classes over all steps looked at, and how far a share told by a few labels may be off."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import ClassWeights, Run

LEAST_LABELS = 100
LEAST_OF_CLASS = 5
_CLOSE = math.log(1.25)
_AT_MOST = math.log(1.8)
_DOUBT = 2.5  # standard deviations of a logarithm of a count


def weights_given(run: Run) -> Iterator[tuple[ClassWeights, tuple[int, ...], int]]:
    """The first call of each loss with the same weights, with the labels of all such calls where they are enough."""
    groups: dict[tuple[object, ...], list[ClassWeights]] = {}
    for seen in run.all(ClassWeights):
        place = (seen.where.file, seen.where.line) if seen.where else None
        groups.setdefault((place, seen.argument, seen.weights), []).append(seen)
    for group in groups.values():
        counts = tuple(map(sum, zip(*(seen.counts for seen in group), strict=True)))
        total = sum(seen.total for seen in group)
        if total >= LEAST_LABELS:
            yield group[0], counts, total


def doubt(count: int) -> float:
    """How far the logarithm of a number drawn from a count may lie from the true one."""
    return min(_AT_MOST, max(_CLOSE, _DOUBT / math.sqrt(max(1, count))))
