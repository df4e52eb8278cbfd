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


@fact
class WantedColumnRemoved(Observation):
    """A column that a Trainer of Transformers removed from the samples, and that the script's code asks a batch for.

    `asked` is the line that does, and goes on without it; `told` the one that builds the arguments of the Trainer.
    """

    kind: ClassVar[str] = "wanted-column-removed"
    step: int | None
    column: str
    asked: Location
    told: Location | None
