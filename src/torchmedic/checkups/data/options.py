"""What the user asked a data check-up for, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchmedic.facts import Location, NormalisedBy


class DataError(Exception):
    """A request that cannot be met; the message is one line for the user."""


class MissingPackage(DataError):
    """Something that an extra of torchmedic brings is not installed."""

    def __init__(self, package: str, extra: str = "data") -> None:
        super().__init__(f"`{package}` is not installed: pip install 'torchmedic[{extra}]'")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Roles of columns, a filter, and limits. What is left empty is guessed.

    `normalised` and `read_at` are what a script was seen to do: by which keys it scales, where it reads which file.
    """

    group_by: tuple[str, ...] = ()
    label: str = ""
    id: str = ""
    time: str = ""
    split: str = ""
    where: str = ""
    trust: bool = False
    engine: str = "duckdb"
    remote: str = ""
    memory_limit: str = ""
    rows_path: Path | None = None
    normalised: tuple[NormalisedBy, ...] = ()
    read_at: dict[str, Location] = field(default_factory=dict)


# Told of a bad place: source, row (None where there is none), column, trouble, value.
Listing = Callable[[str, int | None, str, str, str], None]


def unlisted(*_: object) -> None:
    """Nobody asked for a list."""


@dataclass
class Progress:
    """Told what is being done; the command line draws it, others ignore it."""

    doing: str = ""
    sources: int = 0
    done: int = 0
    connection: Any = field(default=None, repr=False)

    @contextmanager
    def stage(self, text: str) -> Iterator[None]:
        before, self.doing = self.doing, text
        try:
            yield
        finally:
            self.doing = before
