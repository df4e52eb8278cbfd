"""What was seen of random numbers that came again."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class RepeatedDraw(Observation):
    """A line that drew the same random numbers in every step looked at, for the samples of a batch.

    `steps` are those steps; `seeded` is the line that sets the seed anew, where the source tells it.
    """

    kind: ClassVar[str] = "repeated-draw"
    step: int | None
    where: Location
    expression: str
    op: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    seeded: Location | None
    seeded_text: str
