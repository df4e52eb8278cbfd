"""What was seen of a training that goes on from a checkpoint."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class StateLeftInFile(Observation):
    """A checkpoint that was read, with an optimizer's state in it that no optimizer was given.

    `fits` says that an optimizer of the run has as many parameters, the same settings and the same rate: the training
    goes on, rather than begins anew from other people's weights. `steps` were made by it after the file was read.
    `loaded` is the line that gave the model its weights.
    """

    kind: ClassVar[str] = "state-left-in-file"
    key: str
    entries: int
    read: Location | None
    optimizer: str
    built: Location | None
    fits: bool
    steps: int
    model_loaded: bool
    loaded: Location | None = None
    step: int | None = None


@fact
class ScheduleBegunAnew(Observation):
    """A training that goes on from a checkpoint with the state of its optimizer, whose schedule is at its beginning.

    `key` is the entry of the file that holds the state of such a scheduler, empty where it has none; `saved_at` the
    number of steps that one had made. `saved_rate` and `first_rate` are those of the optimizer in the file, `rate` the
    one of the first step after it was loaded.
    """

    kind: ClassVar[str] = "schedule-begun-anew"
    scheduler: str
    built: Location | None
    key: str
    saved_at: int | None
    saved_rate: float
    first_rate: float
    rate: float
    read: Location | None
    saved: Location | None
    optimizer_loaded: Location | None
    steps: int
    step: int | None = None


@fact
class ScalerLeftInFile(Observation):
    """A checkpoint that was read, with a `GradScaler`'s state in it that no scaler was given.

    `scale` is the one in the file, `first_scale` the one that the scaler of the resumed training began with, which
    made `steps`. `loaded` is the line that gave the optimizer its state.
    """

    kind: ClassVar[str] = "scaler-left-in-file"
    key: str
    scale: float
    first_scale: float
    read: Location | None
    stepped: Location | None
    steps: int
    optimizer_loaded: bool
    loaded: Location | None = None
    step: int | None = None


@fact
class StateOfOtherParameter(Observation):
    """An optimizer that was given a state whose entries belong, position by position, to other parameters.

    `parameter` is the first one that is wrong, at `position` of `parameters`; `entry` is what it was given. `owner` is
    the parameter that the entry belongs to, empty where no single one fits. `by_name` says that the names in the state
    tell it; otherwise the shapes do, `shape` of the parameter and `entry_shape`.
    """

    kind: ClassVar[str] = "state-of-other-parameter"
    optimizer: str
    loaded: Location | None
    built: Location | None
    parameter: str
    position: int
    parameters: int
    groups: int
    wrong: int
    entry: str = ""
    owner: str = ""
    shape: tuple[int, ...] = ()
    entry_shape: tuple[int, ...] = ()
    by_name: bool = False
    step: int | None = None


@fact
class LostMoments(Observation):
    """An optimizer of the kind of Adam that was given squared averages of 0 beside averages that are not.

    Of `moved` entries with an average other than 0, `lost` have a squared average of 0. `largest` is the greatest
    average among those, `eps` what it is divided by as long as the squared one is 0. `entry_type` is the type that
    the squared averages had in the given state.
    """

    kind: ClassVar[str] = "lost-moments"
    optimizer: str
    loaded: Location | None
    entry: str
    entry_type: str
    moved: int
    lost: int
    largest: float
    eps: float
    parameter: str = ""
    step: int | None = None


@fact
class RateFromFile(Observation):
    """An optimizer that was built with a rate of its own and got that of a file, decayed, with the rest of its state.

    `given` is the rate it was built with, `first_rate` the one that the training in the file began with, `rate` the
    one it had come to. `steps` were made after that, none with more than `highest`.
    """

    kind: ClassVar[str] = "rate-from-file"
    optimizer: str
    built: Location | None
    loaded: Location | None
    given: float
    first_rate: float
    rate: float
    highest: float
    steps: int
    step: int | None = None


@fact
class TrainedNotSaved(Observation):
    """A model that was given a part of the weights of a trained one, and evaluated with other values in the rest.

    `names` are some of the `left` parameters that were trained and not among the `given` ones. `saved` is the line that
    chose these, or that saved them, `loaded` the one that gave them to the model.
    """

    kind: ClassVar[str] = "trained-not-saved"
    step: int | None
    model: str
    names: tuple[str, ...]
    left: int
    given: int
    saved: Location | None
    loaded: Location | None
    evaluated: Location | None
