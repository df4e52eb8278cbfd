"""What was seen of the data while a training ran."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class LoaderSeen(Observation):
    """A DataLoader in its first pass: whether it was trained on, in which order, and how its labels came.

    `single_class` counts batches with one label only, `is_sorted` says that labels never fell (or never rose).
    `stepped` counts optimizer steps on its batches; `stepped_at` is their line where the loader is named for testing.
    `batch_size` is that of the largest batch with labels, `asked_for` the one that the loader was given.
    `share` is which part of how many a `DistributedSampler` hands out.
    """

    kind: ClassVar[str] = "loader-seen"
    step: int | None
    names: tuple[str, ...]
    built: Location | None
    dataset: str
    in_order: bool
    trained: int
    batches: int
    batch_size: int
    samples: int
    labels: int
    single_class: int
    is_sorted: bool
    label_name: str = ""
    first_labels: tuple[str, ...] = ()
    stepped: int = 0
    stepped_at: Location | None = None
    asked_for: int = 0
    share: tuple[int, int] | None = None


@fact
class SharedRows(Observation):
    """Rows of an evaluation that the same model was trained on before.

    `how` is `dataset` (one object), `indices` (two subsets of one data set), or `rows` (equal values). Of equal values,
    `same_memory` says that both data sets read the same tensor or array, and `switch` is the method of the data set's
    class (defined at `switch_at`) that would choose the test part and is called nowhere.
    """

    kind: ClassVar[str] = "shared-rows"
    step: int | None
    how: str
    names: tuple[str, ...]
    train_names: tuple[str, ...]
    shared: int
    looked_at: int
    dataset: str = ""
    where: Location | None = None
    train_built: Location | None = None
    split: Location | None = None
    multiplied: Location | None = None
    evaluated: Location | None = None
    same_memory: bool = False
    switch: str = ""
    switch_at: Location | None = None


@fact
class KinRows(Observation):
    """Rows of an evaluation that are next of kin to rows that the same model was trained on.

    `how` is `windows` (they share most cells, shifted, with rows before and behind them) or `mixtures` (they lie on
    the straight way from one row to another). `split` is the line that made the two parts.
    """

    kind: ClassVar[str] = "kin-rows"
    step: int | None
    how: str
    akin: int
    looked_at: int
    name: str
    split: Location | None
    evaluated: Location | None


@fact
class WrappedArithmetic(Observation):
    """Arithmetic of small integers whose true results do not fit their type."""

    kind: ClassVar[str] = "wrapped-arithmetic"
    step: int | None
    where: Location
    expression: str
    names: tuple[str, str]
    target: str
    operator: str
    dtype: str
    library: str
    share: float
    example: tuple[int, int, int]


@fact
class UnseenArithmetic(Observation):
    """Lines (`file:line`) with arithmetic that small integers may come to, whose operands were gone when looked for."""

    kind: ClassVar[str] = "unseen-arithmetic"
    step: int | None
    lines: tuple[str, ...]


@fact
class RowsWithoutWeight(Observation):
    """A `WeightedRandomSampler` with fewer `weights` than the dataset of its loader has `rows`."""

    kind: ClassVar[str] = "rows-without-weight"
    weights: int
    rows: int
    draws: int
    where: Location | None
    loader: Location | None
    step: int | None = None


@fact
class FilesPairedApart(Observation):
    """Two lists of files that a data set reads at one index, in different orders; `names` stand at `row`."""

    kind: ClassVar[str] = "files-paired-apart"
    dataset: str
    lists: tuple[str, ...]
    names: tuple[str, ...]
    row: int
    apart: int
    rows: int
    where: Location | None
    step: int | None = None


@fact
class RowsRewritten(Observation):
    """Rows of a data set that were other ones whenever a pass over them began; `values` of one number at the looks."""

    kind: ClassVar[str] = "rows-rewritten"
    dataset: str
    attribute: str
    row: int
    values: tuple[float, ...]
    changed: int
    watched: int
    where: Location
    step: int | None = None


@fact
class FirstBatchOnly(Observation):
    """A loader of several batches that was begun again and again, and handed out the same first batch each time."""

    kind: ClassVar[str] = "first-batch-only"
    times: int
    batches: int
    rows: int
    where: Location | None
    built: Location | None
    step: int | None = None


@fact
class MissingCode(Observation):
    """A number at the far end of columns of a table; `shares` of each column hold it.

    `seen` tells what is done with the table at that line: "read", a method of it such as "dropna", or "made".
    """

    kind: ClassVar[str] = "missing-code"
    step: int | None
    where: Location | None
    path: str
    value: float
    columns: tuple[str, ...]
    shares: tuple[float, ...]
    seen: str = "read"
    table: str = ""


@fact
class NumbersLost(Observation):
    """Texts of a column that `to_numeric` made NaN though a person reads numbers in them.

    `texts` counts the texts of the column that are not empty, `marks` are the characters it does not read, and
    `highest` is the largest number that it did read.
    """

    kind: ClassVar[str] = "numbers-lost"
    step: int | None
    where: Location | None
    column: str
    texts: int
    lost: int
    examples: tuple[str, ...]
    marks: tuple[str, ...]
    highest: float | None = None


@fact
class GroupsDealt(Observation):
    """Two parts of one data set, one trained on, with samples of the same people, recordings or other groups in both.

    `attribute` of the data set names the group of each sample; all samples of a group have one and the same `label`.
    `groups` are those of the part that is not trained on, `shared` those of them that are trained on too. `attribute`
    and `label` are columns of the table `table` of the data set, where it keeps one.
    """

    kind: ClassVar[str] = "groups-dealt"
    step: int | None
    dataset: str
    attribute: str
    label: str
    groups: int
    shared: int
    samples: int
    names: tuple[str, ...]
    split: Location | None
    made: Location | None
    table: str = ""


@fact
class ScoredInAnotherOrder(Observation):
    """A metric that was given the labels of a pass over a loader, in another order than they were handed out in.

    `handed_out` says how well the answers agree with the labels as the loader gave them, `as_scored` with those of the
    metric: as the share that is right (`is_share`), or as a correlation.
    """

    kind: ClassVar[str] = "scored-in-another-order"
    step: int | None
    where: Location
    expression: str
    target: str
    answer: str
    loader: tuple[str, ...]
    built: Location | None
    is_shuffled: bool
    samples: int
    handed_out: float
    as_scored: float
    is_share: bool
