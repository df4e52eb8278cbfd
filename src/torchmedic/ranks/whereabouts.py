"""The short file in which a process says where it is, and which outlives it."""

from __future__ import annotations

from pathlib import Path

from torchmedic.facts import Location

FILE = "whereabouts"


def as_text(at: Location) -> str:
    """A place in the lines of the file.

    >>> as_text(Location(file="a.py", line=3, function="f", source="x = 1"))
    'a.py\\n3\\nf\\nx = 1'
    """
    return f"{at.file}\n{at.line}\n{at.function}\n{at.source}"


def last_seen(folder: Path) -> Location | None:
    """The line that was written down last in a run's folder."""
    try:
        file, line, function, source = (folder / FILE).read_text().split("\n")
        return Location(file=file, line=int(line), function=function, source=source)
    except (OSError, ValueError):
        return None


def last_alive(folder: Path) -> float | None:
    """When the process last said where it is."""
    try:
        return (folder / FILE).stat().st_mtime
    except OSError:
        return None
