"""What was seen of the weights by which a loss counts its classes."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class ClassWeights(Observation):
    """The `argument` (`pos_weight` or `weight`) of one call of a loss, and the labels of that call.

    Of `pos_weight`, `counts` are the positive labels of each column, each of which has `total`; of `weight`, the labels
    of each class. `made` is the line that made the weights, where that is not the one that hands them over.
    """

    kind: ClassVar[str] = "class-weights"
    step: int | None
    function: str
    argument: str
    weights: tuple[float, ...]
    counts: tuple[int, ...]
    total: int
    where: Location | None
    made: Location | None = None
