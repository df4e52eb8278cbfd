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


@fact
class LeftGradients(Observation):
    """Parameters whose gradients no clearing reaches, while others of the same optimizer are cleared at every step.

    In each of `cycles` steps on end backward added to what the step before had used. The norms are of the largest.
    """

    kind: ClassVar[str] = "left-gradients"
    step: int | None
    optimizer: str
    built: Location | None
    parameters: tuple[str, ...]
    count: int
    cleared: int
    cycles: int
    norm_first: float | None
    norm_last: float | None
    backward: Location | None
    zero_grad: Location | None
