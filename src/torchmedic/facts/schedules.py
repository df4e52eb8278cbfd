"""What was seen of the schedules of learning rates."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class SchedulerSeen(Observation):
    """A learning-rate scheduler: its settings, how often it was stepped, and what became of the learning rate.

    `factor_made` is the line of the user's own function that it asks for a factor. `stepped_by` is the package that
    steps it, where no line of the user's does. `rates` are those that the groups of the optimizer were built with.
    `rebuilt` is how many the same line had built before for the same optimizer. After `length` calls the rate stands
    still or begins again, and after `peak` calls a rise from the first one on ends; 0 where there is no such call.
    """

    kind: ClassVar[str] = "scheduler-seen"
    type: str
    settings: dict[str, float]
    built: Location | None = None
    stepped: Location | None = None
    steps: int = 0
    optimizer_steps: int = 0
    other_steps: int = 0
    optimizer_built: Location | None = None
    other_built: Location | None = None
    per_optimizer_step: int = 0
    before_optimizer: int = 0
    epochs: int = 0
    steps_per_epoch: int = 0
    first_lr: float = 0.0
    last_lr: float = 0.0
    largest_lr: float = 0.0
    small_from: int | None = None
    turns: int = 0
    metrics: tuple[float, ...] = ()
    metric_text: str = ""
    mode: str = ""
    cuts: int = 0
    rises: int = 0
    nested: bool = False
    factor_made: Location | None = None
    stepped_by: str = ""
    rates: tuple[float, ...] = ()
    rebuilt: int = 0
    length: int = 0
    peak: int = 0
    step: int | None = None


@fact
class LearningRates(Observation):
    """The learning rates that an optimizer stepped with: how many steps had none at all.

    `given` is the rate that the optimizer was built with, which a scheduler multiplies; `floored` the line of the
    user's function for it that divides and drops the rest, `schedule_steps` how many updates it was stepped after.
    """

    kind: ClassVar[str] = "learning-rates"
    optimizer: str
    built: Location | None = None
    scheduler: str = ""
    scheduler_built: Location | None = None
    steps: int = 0
    given: float | None = None
    zero_steps: int = 0
    zero_at_start: int = 0
    zero_at_end: int = 0
    floored: Location | None = None
    schedule_steps: int = 0
    highest: float = 0.0
    step: int | None = None


@fact
class GroupRates(Observation):
    """Rates of an optimizer's groups, all the same at `first`, of which some had changed at `last` and some had not.

    `where` is a line of a loop that sets the rate of one group, the same in each round.
    """

    kind: ClassVar[str] = "group-rates"
    optimizer: str
    first: tuple[float, ...]
    last: tuple[float, ...]
    where: Location
    step: int | None = None


@fact
class RateBegunAnew(Observation):
    """A rate that went one way, was back where it began all at once, and went the same way again, `times` times.

    Each stretch had `steps` steps and went from `begin` to `reached`. `where` is the line that computes it from
    `counter`, which an inner loop counts anew.
    """

    kind: ClassVar[str] = "rate-begun-anew"
    optimizer: str
    times: int
    steps: int
    begin: float
    reached: float
    highest: float
    built: Location | None = None
    where: Location | None = None
    counter: str = ""
    step: int | None = None


@fact
class RateScaledTwice(Observation):
    """Two lines multiply a learning rate by the same number: `factor` at `where`, and `again_by` at `again`."""

    kind: ClassVar[str] = "rate-scaled-twice"
    optimizer: str
    factor: str
    value: float
    where: Location
    again: Location
    again_by: str
    rate: float = 0.0
    step: int | None = None


@fact
class GroupWithoutRate(Observation):
    """A group of an optimizer whose rate was nothing at every look, while gradients reached its parameters."""

    kind: ClassVar[str] = "group-without-rate"
    optimizer: str
    group: int
    groups: int
    rate: float
    others: float
    parameters: tuple[str, ...]
    count: int
    where: Location | None = None
    step: int | None = None


@fact
class NewLayerHeldBack(Observation):
    """A group of an optimizer with all layers that are new to a trained model, and a rate far below that of old ones.

    `new` and `old` name the parameters of the two groups, `rate` and `others` are the highest rates that they had.
    `born` is the line that made the new layer; `was_loaded` tells weights from a file from those trained before.
    """

    kind: ClassVar[str] = "new-layer-held-back"
    optimizer: str
    rate: float
    others: float
    new: tuple[str, ...]
    old: tuple[str, ...]
    fellows: int
    where: Location | None = None
    born: Location | None = None
    was_loaded: bool = False
    step: int | None = None
