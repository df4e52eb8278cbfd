"""Facts about weights that are 0 and stay so."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class ZeroTimesZero(Observation):
    """Two weights that are 0, of which the first feeds the second: both had a gradient of exactly 0 at every look.

    `zeroed` are the lines that made them so. `looks` times a gradient other than 0 came to their product; of `pairs`
    like this, these are the first.
    """

    kind: ClassVar[str] = "zero-times-zero"
    step: int | None
    names: tuple[str, str]
    zeroed: tuple[Location | None, Location | None]
    pairs: int
    looks: int
