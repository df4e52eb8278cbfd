"""What was seen of the arrays that a training holds its data in: attributes of data sets, and variables."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class HeldCode(Observation):
    """A number that is repeated in a column of an array, `gap` times as far from all others as those are wide.

    `low` and `high` are the ends of the others, `label` what a list of the script's calls the column. `made` is the
    line that made the array, `computed` the first that takes a mean or a spread over it.
    """

    kind: ClassVar[str] = "held-code"
    step: int | None
    name: str
    column: int
    columns: int
    label: str
    value: float
    times: int
    total: int
    low: float
    high: float
    gap: float
    made: Location | None
    computed: Location | None


@fact
class LabelsPairedApart(Observation):
    """A list of labels in the order of a table, read at the same index as a list of files in another order.

    The `column` of the `table` names the files. At `row` the file `name` is read with the label of `other`; of `rows`
    files `apart` are read with the label of another, and `wrong` with one that differs from their own.
    """

    kind: ClassVar[str] = "labels-paired-apart"
    dataset: str
    files: str
    labels: str
    table: str
    column: str
    row: int
    name: str
    other: str
    apart: int
    wrong: int
    rows: int
    where: Location | None
    step: int | None = None


@fact
class HeldTable(Observation):
    """A table of floats that a training holds: mean and spread of each column, and the line that made it."""

    kind: ClassVar[str] = "held-table"
    step: int | None
    name: str
    labels: tuple[str, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]
    made: Location


@fact
class HeldColumn(Observation):
    """A column of large float32 numbers in which neighbours are equal, or differ by the spacing of float32 there.

    `equal` of the `pairs` of neighbours are equal, `along` rows, the steps of a row, or sorted rows. `width` is
    how far it reaches from end to end, `cast` the line that made it float32.
    """

    kind: ClassVar[str] = "held-column"
    step: int | None
    name: str
    column: int
    columns: int
    label: str
    size: float
    spacing: float
    width: float
    equal: int
    pairs: int
    along: str
    made: Location | None
    cast: Location | None


@fact
class CutField(Observation):
    """Whole numbers that are what a cast leaves of an array of floats, which the script calls `source`.

    `fractions` is the share of those that had one, `shape` that of one row.
    """

    kind: ClassVar[str] = "cut-field"
    step: int | None
    name: str
    source: str
    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    mean: float
    spread: float
    fractions: float
    example: float
    made: Location | None
    cast: Location | None


@fact
class CutStores(Observation):
    """Whole numbers whose source divides, and puts the quotients into an array that holds whole numbers.

    `array` is the name of that one and `text` how it is made. `source` is an array of whole numbers with the same
    columns, which have `before` different numbers each, `after` in what is held; empty where there is none any more.
    """

    kind: ClassVar[str] = "cut-stores"
    step: int | None
    name: str
    array: str
    text: str
    source: str
    dtype: str
    before: int | None
    after: int
    zeros: float
    made: Location
    stored: Location


@fact
class UnseenStores(Observation):
    """Lines (`file:line`) that assign to parts of an array which takes over the type of another, whatever that is."""

    kind: ClassVar[str] = "unseen-stores"
    step: int | None
    lines: tuple[str, ...]


@fact
class TruncatedStores(Observation):
    """Fractions that a line put into parts of an array of whole numbers before the training began.

    `array` is its name, `text` how it is made and `value` what is put there. Of the `values` that were not 0, `zeroed`
    became 0; `lost` is the share of their size that was cut off.
    """

    kind: ClassVar[str] = "truncated-stores"
    step: int | None
    array: str
    text: str
    value: str
    dtype: str
    made: Location
    stored: Location
    values: int = 0
    zeroed: int = 0
    lost: float = 0.0
    example: float = 0.0


@fact
class SmallField(Observation):
    """One small whole number for each row of a data set, which take up (nearly) all that their type can hold.

    `highest` is what the type can hold, `largest` and `distinct` are what is there; `cast` is the line that chose it.
    """

    kind: ClassVar[str] = "small-field"
    step: int | None
    name: str
    dtype: str
    rows: int
    distinct: int
    largest: int
    highest: int
    made: Location | None
    cast: Location | None


@fact
class EdgesTurnedRound(Observation):
    """Edges to be tested on, `turned` of which were trained on in the other direction, of a graph without direction.

    `where` is the line that split them, by a function of a library or by hand.
    """

    kind: ClassVar[str] = "edges-turned-round"
    step: int | None
    train: str
    test: str
    edges: int
    turned: int
    where: Location | None = None
    is_drawn_by_library: bool = False


@fact
class MessagesOverTest(Observation):
    """A graph network passes messages in training along `edges` edges, all `tested` that it is tested on among them.

    `name` is the variable that holds them, and `where` the line that makes it or hands them over.
    """

    kind: ClassVar[str] = "messages-over-test"
    step: int | None
    name: str
    test: str
    tested: int
    edges: int
    where: Location | None = None


@fact
class CoarseField(Observation):
    """An array of fractions with few different numbers, made by functions that cast to float32 and take differences.

    `functions` are these, as `file:line` of where they begin: what they held is gone by the time training begins.
    """

    kind: ClassVar[str] = "coarse-field"
    step: int | None
    name: str
    distinct: int
    count: int
    functions: tuple[str, ...]
