"""What was seen of gradients that one optimizer's turn leaves on the parameters of another."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class StrayGradients(Observation):
    """The updates of one optimizer that contained what the backward of another one's turn had left behind.

    That backward had to pass through this optimizer's parameters to reach those of the other. `turns` are the updates
    of this optimizer that came after such a backward and the other's step; in `strayed` of them nothing had cleared its
    gradient before its own backward added to it. `agreement` is the mean cosine between what was left and what was
    added, `share` the mean of the first's norm by the second's. `backwards` of its own made an update, at most.
    """

    kind: ClassVar[str] = "stray-gradients"
    step: int | None
    optimizer: str
    other: str
    turns: int
    strayed: int
    agreement: float
    share: float
    backward: Location | None
    stray_backward: Location | None
    other_stepped: Location | None
    zero_grad: Location | None = None
    built: Location | None = None
    backwards: int = 1
