"""What was seen of scores that are divided by a number of rows that was never loaded."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class DividedByFullBatches(Observation):
    """A count is divided by `batches * batch_size`, and a loader whose batches are counted has fewer rows.

    `is_there` says that the loader was read in the very function that divides.
    """

    kind: ClassVar[str] = "divided-by-full-batches"
    where: Location
    text: str
    counted: str
    divisor: str
    loader: str
    built: Location | None
    rows: int
    batches: int
    batch_size: int
    is_there: bool
    step: int | None = None


@fact
class SamplesLeftOut(Observation):
    """A loader that no step is made with drops its last rows, the same in every pass."""

    kind: ClassVar[str] = "samples-left-out"
    step: int | None
    loader: str
    rows: int
    batch_size: int
    where: Location
