"""What a script was seen to read, and by which keys it was seen to normalise."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class FileRead(Observation):
    """A data file that the script opened. `reader` is the function that was given its name, `open` where none was."""

    kind: ClassVar[str] = "file-read"
    path: str
    reader: str
    where: Location | None = None
    step: int | None = None


@fact
class NormalisedBy(Observation):
    """A key whose groups were scaled by their own spread.

    `where` is the line that divides, or the one that groups where the division was not found. `named` are all names
    and texts that the lines from the one to the other mention, columns among them.
    """

    kind: ClassVar[str] = "normalised-by"
    key: str
    where: Location
    divides: bool
    named: tuple[str, ...] = ()
    step: int | None = None
