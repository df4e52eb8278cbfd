"""What was seen of the course of training: activations, the loss over the steps, how far weights move."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class ActivationSeen(Observation):
    """An activation in the examined steps: the share of its outputs that are 0, or pressed to an end of its range.

    `fed_by` is the layer before it, `bias` the range of its bias at first, `bias_set` the line that fills it where
    it is far below 0. `is_last` says that no further learned operation reads it.
    """

    kind: ClassVar[str] = "activation-seen"
    step: int | None
    op: str
    where: Location | None
    expression: str
    layer: str
    layer_built: Location | None
    direct: bool
    fed_by: str
    fed_built: Location | None
    steps: tuple[int, ...]
    shares: tuple[float, ...]
    is_last: bool = False
    bias: tuple[float, float] | None = None
    bias_set: Location | None = None


@fact
class UnknownGroupOption(Observation):
    """An option of an optimizer's groups that the optimizer has no use for, and that the script reads nowhere."""

    kind: ClassVar[str] = "unknown-group-option"
    optimizer: str
    option: str
    values: tuple[float, ...]
    groups: int
    rates: tuple[float, ...]
    built: Location | None
    where: Location | None = None
    step: int | None = None


@fact
class TrainingCourse(Observation):
    """How the training of one optimizer went: the loss in equal parts of the run, how far each update moved weights.

    `head` are the first losses, `parts` means over equal stretches, oldest first, `lows` and `highs` their ends.
    `ratios` are the sizes of sampled updates relative to the weights, at the steps `ratio_steps`. `moved` is how far
    the weights are from the start after `moved_in` steps: the last ones at which they were there to be looked at.
    `rate_made` the line that made the rate which the optimizer was given, where that is another one; `rate_set` the
    one that sets it for a framework which builds the optimizer. `decay` is its weight decay, `shrunk` the size of the
    weights at the end relative to the start.
    """

    kind: ClassVar[str] = "training-course"
    step: int | None
    optimizer: str
    built: Location | None
    steps: int
    optimizers: int
    losses: int
    head: tuple[float, ...]
    parts: tuple[float, ...]
    highest: float | None
    ratios: tuple[float, ...]
    ratio_steps: tuple[int, ...]
    moved: float | None
    first_lr: float | None
    last_lr: float | None
    highest_lr: float | None
    gradient: float | None
    backward_lines: int
    rate_made: Location | None = None
    rate_set: Location | None = None
    decay: float | None = None
    shrunk: float | None = None
    default_lr: float | None = None
    moved_in: int = 0
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()


@fact
class GradientsByDepth(Observation):
    """The typical size of an element of each weight's gradient at a few steps, in the order of the model.

    `sizes` holds, for each of `names`, one number per step of `steps`; `built` the line of the layer it belongs to.
    """

    kind: ClassVar[str] = "gradients-by-depth"
    step: int | None
    steps: tuple[int, ...]
    names: tuple[str, ...]
    sizes: tuple[tuple[float, ...], ...]
    built: tuple[Location | None, ...]


@fact
class RateRaised(Observation):
    """A learning rate that became much higher from one step to the next, and the loss before, after and at the end.

    `before` and `after` are means over as many steps on either side, `end` over the last ones; `steps_after` is how
    many there were in all.
    """

    kind: ClassVar[str] = "rate-raised"
    step: int | None
    optimizer: str
    built: Location | None
    rate_before: float
    rate_after: float
    before: float
    after: float
    end: float
    steps_after: int


@fact
class StridesSeen(Observation):
    """Pairs of neighbouring steps of an optimizer, spread over the run: slopes, and how far an update goes.

    Each entry of a series belongs to one of `steps`. `agree` is the cosine between the gradient of that step and of
    the next one, `lasting` that with the gradient of the look before. `before` is the cosine between the update and
    its own gradient (below 0: it goes down), `after` that with the next gradient (above 0: it went past the lowest
    point). `gradients` are sizes, `strides` those of updates relative to the weights, `falls` by how much the slope
    alone says that an update lowers its loss. `elements` is how many numbers of the weights were looked at,
    `rate_written` the line of a script that sets the rate by hand as it goes.
    """

    kind: ClassVar[str] = "strides-seen"
    step: int | None
    optimizer: str
    built: Location | None
    momentum: float | None
    elements: int
    steps: tuple[int, ...]
    rates: tuple[float, ...]
    agree: tuple[float, ...]
    lasting: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    gradients: tuple[float, ...]
    strides: tuple[float, ...]
    falls: tuple[float, ...]
    rate_written: Location | None = None
