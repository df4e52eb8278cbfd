"""What was seen of clipping."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class ClippingSeen(Observation):
    """A line that clips gradients: to what, and the norms they had at the calls looked at.

    `wasted` are those of them that came after a step, with no other step before the gradients were computed anew.
    """

    kind: ClassVar[str] = "clipping-seen"
    step: int | None
    function: str
    where: Location | None
    limit: float
    norms: tuple[float, ...]
    calls: int
    wasted: int = 0
    stepped: Location | None = None
