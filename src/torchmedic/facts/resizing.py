"""What was seen of masks that were resized, rotated or warped on their way to the loss."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class BlendedLabels(Observation):
    """A map of class numbers that came out of a resizing with numbers which were not in it before.

    `before` are the numbers of one map, `invented` those that it has afterwards besides. `filter` is the way of
    interpolating, `is_default` says that nobody chose it. `name` is the field of the sample, or the variable.
    """

    kind: ClassVar[str] = "blended-labels"
    step: int | None
    where: Location
    text: str
    library: str
    function: str
    filter: str
    is_default: bool
    before: tuple[int, ...]
    invented: tuple[int, ...]
    share: float
    name: str
