"""What was seen of layers that are built or drawn in a way that keeps them from learning."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class IdenticalUnits(Observation):
    """A trained layer whose units all have the same weights, at every one of `steps`."""

    kind: ClassVar[str] = "identical-units"
    step: int | None
    layer: str
    path: str
    units: int
    steps: tuple[int, ...]
    built: Location | None
    drawn: Location | None


@fact
class ShortNormMemory(Observation):
    """Normalisation layers whose running statistics are little but those of the last batch."""

    kind: ClassVar[str] = "short-norm-memory"
    step: int | None
    layer: str
    momentum: float
    layers: int
    built: Location | None


@fact
class StillNormStatistics(Observation):
    """Normalisation layers with a momentum of 0: after `batches` the running statistics are those they began with.

    `set_at` is the line that holds the number.
    """

    kind: ClassVar[str] = "still-norm-statistics"
    step: int | None
    layer: str
    path: str
    layers: int
    batches: int
    built: Location | None
    set_at: Location | None
