"""What a data check-up saw: tables, arrays, images, graphs and files, without a training around them."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class Cell:
    """One place in the data: a file with a line or a row (counted from 0), and what stands there."""

    file: str = ""
    line: int | None = None
    row: int | None = None
    text: str = ""
    source: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        row = f"row {self.row}" if self.row is not None and not self.line else ""
        named = " ".join(part for part in (place, row) if part)
        return f"{named}: {self.text}" if self.text and named else named or self.text


@fact
class DataSource(Observation):
    """One data set that was looked at. `roles` says which column is label, group, id, time or split.

    `guessed` names the roles nobody gave; `sampled` is how many rows the closer looks were taken on, None for all. Of
    very many files `files` are the first ones, `file_count` says how many there are.
    """

    kind: ClassVar[str] = "data-source"
    source: str
    format: str
    rows: int | None = None
    columns: int | None = None
    files: tuple[str, ...] = ()
    file_count: int = 0
    bytes: int = 0
    roles: dict[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    sampled: int | None = None
    where_clause: str = ""
    seconds: float = 0.0
    interrupted: bool = False
    asked: Location | None = None
    step: int | None = None


@fact
class Texts:
    """What is no number in a column of numbers: how many cells, the commonest tokens, and where some are."""

    count: int
    missing_words: int = 0
    missing_tokens: tuple[str, ...] = ()
    tokens: tuple[tuple[str, int], ...] = ()
    cells: tuple[Cell, ...] = ()


@fact
class StandIn:
    """A number that stands for missing values, in so many cells; all others of the column lie from `low` to `high`."""

    value: float
    count: int
    low: float
    high: float
    cells: tuple[Cell, ...] = ()


@fact
class Outliers:
    """Values far from the rest, by median and median absolute deviation. `farthest` is in such deviations.

    Beyond `cut` from the median lie these and nothing else.
    """

    count: int
    cut: float
    median: float
    deviation: float
    farthest: float
    value: float
    cells: tuple[Cell, ...] = ()


@fact
class TwoScales:
    """Two heaps of values a factor (and an offset) apart, with a gap between them, or a dip where they overlap."""

    factor: float
    low: float
    high: float
    low_count: int
    high_count: int
    offset: float = 0.0
    overlapping: bool = False


@fact
class Instants:
    """A column of dates: how many carry which zone, how many no calendar has."""

    zones: tuple[tuple[str, int], ...] = ()
    impossible: int = 0
    cells: tuple[Cell, ...] = ()


@fact
class Dressed:
    """Numbers with something around them, in nearly all cells of a column of text: an example of it.

    `form` is thousands, percent, currency or unit.
    """

    form: str
    example: str


@fact
class Lengths:
    """Lists in a column: the shortest, the longest, the commonest length and its share; of arrays their usual shape."""

    shortest: int
    longest: int
    common: int
    share: float
    cells: tuple[Cell, ...] = ()
    shape: str = ""


@fact
class TableColumn(Observation):
    """The statistics of one column; minimum to std are over finite values. `type` is the engine's own word.

    Of a column of lists these are of their lengths; `bad_lists` have elements that are missing or not finite.
    """

    kind: ClassVar[str] = "table-column"
    source: str
    column: str
    type: str
    family: str
    rows: int
    role: str = ""
    nulls: int = 0
    nan: int = 0
    inf: int = 0
    finite: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    smallest: float | None = None
    bad_lists: int = 0
    bad_elements: int = 0
    beyond_half: int = 0
    whole_beyond_float32: int = 0
    constant: str | None = None
    distinct: int | None = None
    rising: bool = False
    texts: Texts | None = None
    outliers: Outliers | None = None
    two_scales: TwoScales | None = None
    instants: Instants | None = None
    lengths: Lengths | None = None
    dressed: Dressed | None = None
    stand_ins: tuple[StandIn, ...] = ()
    cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class Group:
    """One group of rows: its key, size, value and spread."""

    key: str
    rows: int
    value: float
    spread: float = 0.0


@fact
class SpreadByGroup(Observation):
    """A column of values within groups: which groups have no spread, or one that float32 cannot show.

    `is_attribute` says that the key alone tells the value: then no group of any has a spread, and none should have.
    `given` says that the user named the key. `but_one` are groups in which one value hides that all others are equal.
    """

    kind: ClassVar[str] = "spread-by-group"
    source: str
    group: str
    column: str
    groups: int
    guessed: bool
    constant: tuple[Group, ...] = ()
    near: tuple[Group, ...] = ()
    but_one: tuple[Group, ...] = ()
    single: int = 0
    rows: int = 0
    asked: Location | None = None
    is_attribute: bool = False
    given: bool = False
    step: int | None = None


@fact
class LabelColumn(Observation):
    """The labels of a data set. `classes` holds the counts by value, fewest first, of at most a thousand values."""

    kind: ClassVar[str] = "label-column"
    source: str
    column: str
    guessed: bool
    rows: int
    whole: bool
    missing: int = 0
    distinct: int = 0
    minimum: float | None = None
    maximum: float | None = None
    ignored: int = 0
    classes: tuple[tuple[str, int], ...] = ()
    runs: int | None = None
    cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class RepeatedRows(Observation):
    """Rows that are there more than once; `conflicting` of them differ in the label only."""

    kind: ClassVar[str] = "repeated-rows"
    source: str
    rows: int
    repeats: int
    columns: tuple[str, ...]
    label: str = ""
    conflicting: int = 0
    by_chance: float = 0.0
    cells: tuple[Cell, ...] = ()
    conflict_cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class SharedBetween(Observation):
    """Rows, keys or groups that two parts of the data share.

    `how`: exact, near, changed, reworded, key, group, pixels of images, or nodes of a graph.
    """

    kind: ClassVar[str] = "shared-between"
    source: str
    train: str
    test: str
    how: str
    columns: tuple[str, ...]
    shared: int
    of: int
    by_chance: float = 0.0
    cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class SplitInTime(Observation):
    """When the rows of the training and of the test part were taken."""

    kind: ClassVar[str] = "split-in-time"
    source: str
    train: str
    test: str
    column: str
    train_first: str
    train_last: str
    test_first: str
    test_last: str
    after: int
    train_rows: int
    given: bool = False
    asked: Location | None = None
    step: int | None = None


@fact
class TellingColumn(Observation):
    """A column that alone gives the label away: how often, against always saying the commonest class."""

    kind: ClassVar[str] = "telling-column"
    source: str
    column: str
    label: str
    hits: float
    baseline: float
    values: int
    rows: int
    how: str
    asked: Location | None = None
    step: int | None = None


@fact
class ArraySeen(Observation):
    """An array or tensor of a file or in memory. `flat` counts first-axis items that hold one value only.

    `purpose` is weight, mask, label or empty. `coarse` names the type of floats in which its ids or times
    fall together. `left_out` counts the samples that have another shape.
    """

    kind: ClassVar[str] = "array-seen"
    source: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    purpose: str = ""
    nan: int = 0
    inf: int = 0
    minimum: float | None = None
    maximum: float | None = None
    smallest: float | None = None
    beyond_half: int = 0
    flat: int = 0
    flat_items: tuple[int, ...] = ()
    flat_value: float | None = None
    flat_columns: tuple[int, ...] = ()
    coarse: str = ""
    left_out: int = 0
    cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class FileTrouble(Observation):
    """A file that could not be checked, and why.

    `trouble` is empty, filtered-away, truncated, unreadable, foreign-classes, too-large or loop. `rows` counts what is
    concerned, `cells` are some of it.
    """

    kind: ClassVar[str] = "file-trouble"
    source: str
    trouble: str
    detail: str = ""
    line: int | None = None
    rows: int = 0
    cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None


@fact
class ImagesSeen(Observation):
    """A folder of images: forms by count, files that do not decode, files of a single value.

    Of masks also: `marked`, the number that most give to what they mark, and that of the `otherwise` others; the
    `orphans` without an image, and the `lonely` images without a mask, where nearly all pair by their names.
    """

    kind: ClassVar[str] = "images-seen"
    source: str
    files: int
    masks: bool = False
    modes: tuple[tuple[str, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    broken: int = 0
    broken_cells: tuple[Cell, ...] = ()
    flat: int = 0
    black: int = 0
    flat_cells: tuple[Cell, ...] = ()
    odd_cells: tuple[Cell, ...] = ()
    marked: tuple[int, ...] = ()
    otherwise: int = 0
    otherwise_cells: tuple[Cell, ...] = ()
    lonely: int = 0
    orphans: int = 0
    lonely_cells: tuple[Cell, ...] = ()
    orphan_cells: tuple[Cell, ...] = ()
    asked: Location | None = None
    step: int | None = None
