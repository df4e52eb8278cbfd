"""What was seen of two loaders side by side: the one that is trained on and the one that is evaluated on."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class InputsApart(Observation):
    """The inputs of the first batches: their spread (a tenth to nine tenths of the values) and middle in both loaders.

    `within` is the spread inside a typical sample. Training comes first in each pair.
    `differing` names attributes of the two data sets, of one class, that are None in one of them only. `steps` are
    those by which the attribute `prepared_by` of either prepares a sample, where they differ, and `composed` the lines
    that put them together.
    """

    kind: ClassVar[str] = "inputs-apart"
    step: int | None
    names: tuple[str, ...]
    train_names: tuple[str, ...]
    built: Location | None
    train_built: Location | None
    spreads: tuple[float, float]
    within: tuple[float, float]
    middles: tuple[float, float]
    values: int
    differing: str = ""
    differing_to: str = ""
    prepared_by: str = ""
    steps: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    composed: tuple[Location | None, Location | None] = (None, None)


@fact
class LabelMapsApart(Observation):
    """Two data sets of one class that give the same label different numbers; `train` and `other` are the numbers.

    `where` is the line to edit. `made` is the one that makes the map, and `parameter` what the class would have taken
    it from, had it been given; `lacking` are labels of the training data that the other one does not know.
    """

    kind: ClassVar[str] = "label-maps-apart"
    step: int | None
    attribute: str
    dataset: str
    where: Location | None
    names: tuple[str, ...]
    train_names: tuple[str, ...]
    label: str
    train: int
    other: int
    differing: int
    common: int
    made: Location | None = None
    parameter: str = ""
    lacking: tuple[str, ...] = ()


@fact
class TargetAmongInputs(Observation):
    """A position of the input that equals the target in every sample of the batches looked at."""

    kind: ClassVar[str] = "target-among-inputs"
    step: int | None
    names: tuple[str, ...]
    built: Location | None
    dataset: str
    made: Location | None
    shape: tuple[int, ...]
    position: tuple[int, ...]
    samples: int
    values: int


@fact
class SharedSetting(Observation):
    """An attribute of the data set below a split, set for one part although the other part reads it too."""

    kind: ClassVar[str] = "shared-setting"
    step: int | None
    attribute: str
    text: str
    where: Location
    dataset: str
    value: str
    names: tuple[str, ...]
    train_names: tuple[str, ...]


@fact
class SettingOnSubset(Observation):
    """An attribute set on a plain `Subset`, which does not read it: the `dataset` below has one of the same name.

    `value` is the type of what was set, `kept` that of what the data set goes on using.
    """

    kind: ClassVar[str] = "setting-on-subset"
    step: int | None
    attribute: str
    text: str
    where: Location
    subset: str
    dataset: str
    value: str
    kept: str


@fact
class ConstantTargets(Observation):
    """Targets of a loader that were one number in every batch of its first pass; `made` is the line that makes them."""

    kind: ClassVar[str] = "constant-targets"
    step: int | None
    names: tuple[str, ...]
    built: Location | None
    dataset: str
    made: Location | None
    value: float
    dtype: str
    shape: tuple[int, ...]
    samples: int
    trained: bool


@fact
class WholeTargets(Observation):
    """Targets of a loader that is trained on are of a type of whole numbers, which the line `cast` chose."""

    kind: ClassVar[str] = "whole-targets"
    step: int | None
    built: Location | None
    dtype: str
    cast: Location


@fact
class PassWithoutBatches(Observation):
    """A loader whose passes ended before a first batch, though its sampler draws from `samples`."""

    kind: ClassVar[str] = "pass-without-batches"
    step: int | None
    names: tuple[str, ...]
    built: Location | None
    where: Location | None
    dataset: str
    samples: int
    batch_size: int
    drop_last: bool
    passes: int


@fact
class SpentIterator(Observation):
    """A loop that goes over an iterator which was used up before: `empty` passes without an item, of `passes` planned.

    `made` is the line that made the iterator and `text` what it says; `batches` is how many a loader had handed out.
    `keeper` is the class of a data set that keeps the iterator as its attribute `name`, or is its own where there is
    none, and `handed_by` the `__iter__` which gives it out again in every pass.
    """

    kind: ClassVar[str] = "spent-iterator"
    step: int | None
    name: str
    text: str
    made: Location | None
    loop: Location
    passes: int | None
    empty: int
    batches: int
    keeper: str = ""
    handed_by: Location | None = None


@fact
class CollatedApart(Observation):
    """A `collate_fn` that puts the field `moved` of its samples in a new order, and the field `left` in none.

    `order` is which sample each row of the moved field comes from; `where` the line that sorts or shuffles.
    """

    kind: ClassVar[str] = "collated-apart"
    step: int | None
    function: str
    moved: str
    left: str
    order: tuple[int, ...]
    where: Location
    built: Location | None


@fact
class MirroredAlone(Observation):
    """Drawn several times, samples whose field `image` is mirrored from one draw to another while `target` stays.

    `axis` is -1 where left and right change places, 0 for a quarter turn; `samples` of the `looked_at` show it; `where`
    mirrors. `is_apart`: in other draws the target is mirrored, and the image is not; `called` is the line of the data
    set that does both, where what mirrors is held by it.
    """

    kind: ClassVar[str] = "mirrored-alone"
    step: int | None
    where: Location
    dataset: str
    axis: int
    image: str
    target: str
    samples: int
    looked_at: int
    is_apart: bool = False
    called: Location | None = None
