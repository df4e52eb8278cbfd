"""What was seen of statements that do nothing."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class UncalledMethod(Observation):
    """A statement that names a method of training and does not call it: `optimizer.zero_grad`."""

    kind: ClassVar[str] = "uncalled-method"
    text: str
    method: str
    where: Location
    step: int | None = None


@fact
class DroppedResult(Observation):
    """A layer that `forward` calls without using what it returns; its parameters never had a gradient."""

    kind: ClassVar[str] = "dropped-result"
    text: str
    owner: str
    attribute: str
    layer: str
    parameters: tuple[str, ...]
    where: Location
    optimizer_built: Location | None
    step: int | None = None


@fact
class ShuffledApart(Observation):
    """A line that puts one array in a new order, `moved`, and leaves the one used beside it, `left`, as it is."""

    kind: ClassVar[str] = "shuffled-apart"
    text: str
    moved: str
    left: str
    where: Location
    joined: Location
    step: int | None = None


@fact
class MarksUnused(Observation):
    """A mask or the ends of episodes that a function of the training prepares and never reads.

    `target` is the line that adds the discounted value of the next state without them; None for a mask.
    """

    kind: ClassVar[str] = "marks-unused"
    name: str
    text: str
    function: str
    where: Location
    target: Location | None = None
    step: int | None = None


@fact
class NothingUsed(Observation):
    """A call such as `names.append(…)`, which answers None, is used as a value, for `use` where that has a name."""

    kind: ClassVar[str] = "nothing-used"
    text: str
    method: str
    use: str
    where: Location
    step: int | None = None


@fact
class UpdateOfName(Observation):
    """Backward ran many times, no weight it reached has moved, and an update binds the variable of a loop anew."""

    kind: ClassVar[str] = "update-of-name"
    name: str
    where: Location
    backward: Location | None = None
    backwards: int = 0
    weights: int = 0
    step: int | None = None
