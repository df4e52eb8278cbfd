"""What was seen of labels that were turned into numbers."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class EncodedAnew(Observation):
    """A column whose labels were numbered twice, each time from the rows at hand, with different numbers.

    `tables` are the user's names of the two tables where they are known; `numbers` those that `label` got in each,
    `labels` how many labels each had. `called` is the line of the user's that led to the second numbering.
    """

    kind: ClassVar[str] = "encoded-anew"
    step: int | None
    where: Location
    first_at: Location
    called: Location | None
    encoder: str
    column: str
    tables: tuple[str, str]
    label: str
    numbers: tuple[int, int]
    labels: tuple[int, int]
    differing: int
    common: int
