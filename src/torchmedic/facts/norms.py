"""What was seen of normalisation layers that a checkpoint has left half loaded."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class FreshNorms(Observation):
    """A model with trained weights that was evaluated with the running statistics of a new one.

    `layers` are its BatchNorm layers whose weights were loaded and whose statistics are still 0 and 1, out of `of`.
    `saved` is the line that wrote such layers without their statistics, where this run has one.
    """

    kind: ClassVar[str] = "fresh-norms"
    step: int | None
    model: str
    layers: tuple[str, ...]
    of: int
    loaded: Location | None
    evaluated: Location | None
    saved: Location | None = None
