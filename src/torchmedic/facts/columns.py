"""What was seen of columns of tables on their way into a model."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class TableTaken(Observation):
    """A table of pandas whose numbers were taken as an array, with the names of its columns; one for a series.

    `chosen` is the line that made the list of columns, where the table was cut by one.
    """

    kind: ClassVar[str] = "table-taken"
    step: int | None
    where: Location
    columns: tuple[str, ...]
    rows: int
    chosen: Location | None = None


@fact
class TargetColumn(Observation):
    """A column of what a model is fed with that is, but for a shift and a factor, the target of the same samples."""

    kind: ClassVar[str] = "target-column"
    step: int | None
    position: int
    columns: int
    samples: int
    where: Location | None
    fed: Location | None
