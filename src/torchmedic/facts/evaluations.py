"""What was seen of answers and targets that an evaluation compares."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class EvaluatedPair(Observation):
    """Numbers that a line compared while gradients were off, in a difference or a loss of differences.

    `first` and `second` are the least, the tenths in between and the largest of its two sides, over all `calls`;
    `names` are what the user wrote there, and `built` is the loader whose batch was at hand. `learned` says of each
    side whether it was computed with parameters of a model, in all of the calls.
    """

    kind: ClassVar[str] = "evaluated-pair"
    step: int | None
    where: Location
    function: str
    names: tuple[str, str]
    first: tuple[float, ...]
    second: tuple[float, ...]
    values: int
    calls: int
    loader: tuple[str, ...] = ()
    built: Location | None = None
    learned: tuple[bool, bool] = (False, False)
