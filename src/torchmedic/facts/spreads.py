"""How values are spread: of a column of a data set, and of the fields of a batch."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Observation
from torchmedic.facts.fact import fact


@fact
class Histogram:
    """Finite values counted in equal bins from `low` to `high`; `below` and `above` are those farther out."""

    low: float
    high: float
    counts: tuple[int, ...]
    below: int = 0
    above: int = 0


@fact
class ColumnHistogram(Observation):
    """The spread of one column of a data set."""

    kind: ClassVar[str] = "column-histogram"
    step: int | None = None
    source: str
    column: str
    histogram: Histogram


@fact
class BatchField(Observation):
    """One field of the first batch of a loader. `rows` are its first samples as text.

    Minimum, mean and maximum are over finite values; `histogram` is None where there are none, or only one.
    """

    kind: ClassVar[str] = "batch-field"
    step: int | None
    loader: str
    field: str
    shape: tuple[int, ...]
    dtype: str
    nan: int = 0
    inf: int = 0
    minimum: float | None = None
    mean: float | None = None
    maximum: float | None = None
    histogram: Histogram | None = None
    rows: tuple[str, ...] = ()
