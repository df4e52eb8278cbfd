"""What was seen of gradients that were thrown away."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class DiscardedGradients(Observation):
    """Steps of an optimizer before which the same line of backward ran several times and was cleared in between.

    `passes` is how many backward passes most of the steps had, `alike` how many of the `cycles` had so many.
    `looked` steps were watched closely: in them nobody read the gradients that were cleared.
    """

    kind: ClassVar[str] = "discarded-gradients"
    optimizer: str
    passes: int
    cycles: int
    alike: int
    looked: int
    cleared: Location | None = None
    backward: Location | None = None
    stepped: Location | None = None
    built: Location | None = None
    step: int | None = None
