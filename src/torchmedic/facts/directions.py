"""What was seen of the way a loss moves the answers: with its targets and its rewards, or against them."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class OverlapMoved(Observation):
    """The gradient of the loss by answers between 0 and 1 that were multiplied by a mask, and divided by their sums.

    `inside` is its sum where the mask is 1 and `outside` where it is 0: a step moves the answers the other way.
    `where` is the last line of the `function` that computes the overlap.
    """

    kind: ClassVar[str] = "overlap-moved"
    step: int | None
    where: Location
    expression: str
    function: str
    product: str
    inside: float
    outside: float
    answer_inside: float
    answer_outside: float


@fact
class PolicyMoved(Observation):
    """The gradient of the loss by log-probabilities of actions, beside the `weight` that says how good these were.

    `agreement` is 1 where it has the sign of the weight throughout, so that a step makes good actions rarer, and -1
    where it has the other sign.
    """

    kind: ClassVar[str] = "policy-moved"
    step: int | None
    where: Location
    expression: str
    weight: str
    agreement: float
    samples: int


@fact
class EntropyMoved(Observation):
    """The gradient of a policy's loss by the entropy of its distribution: `slope` is its sum, `least` its least value.

    Where it is positive a step lowers the entropy. `where` is the line that adds it to the loss or, `is_taken_off`,
    takes it off; `made` the line that asks for it, and `entropy` the mean.
    """

    kind: ClassVar[str] = "entropy-moved"
    step: int | None
    where: Location
    expression: str
    made: Location
    made_text: str
    is_taken_off: bool
    slope: float
    least: float
    entropy: float
