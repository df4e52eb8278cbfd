"""The journal of a run: a line for every backward pass and every update, read by the page and not by the step."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

_LINES_OF_A_PAGE = 64
_FIRST_LINES = 256  # handed on one by one: whoever looks at the beginning of a run does so at once
_SECONDS_OF_A_PAGE = 0.1


class Backward(NamedTuple):
    """A backward pass that has run.

    `step` counts the updates before it. `loss` is a number, or a tensor where reading it would wait for a device; None
    where there were several roots, or one that is no number. `root` is autograd's number of the newest root, `nodes`
    that of the next node to be made.
    """

    step: int
    loss: Any
    at: tuple[CodeType, int] | None
    root: int
    nodes: int


class Update(NamedTuple):
    """An update that was made: its number, the `id` of its optimizer, the rate of the first group and the highest."""

    step: int
    optimizer: int
    rate: float | None
    highest_rate: float | None


Page: TypeAlias = list[Backward | Update]


class Journal:
    """Lines are written in every step, where a microsecond counts; readers get a page of them at a time."""

    def __init__(self, read: Callable[[Page], Any]) -> None:
        self._read = read
        self._lines: Page = []
        self._written = 0
        self._begun = 0.0

    def write(self, line: Backward | Update) -> None:
        lines = self._lines
        if not lines:
            self._begun = time.monotonic()
        lines.append(line)
        self._written += 1
        if (
            self._written <= _FIRST_LINES
            or len(lines) >= _LINES_OF_A_PAGE
            or time.monotonic() - self._begun > _SECONDS_OF_A_PAGE
        ):
            self.turn()

    def turn(self) -> None:
        """Hand the lines written so far to the readers."""
        if self._lines:
            page, self._lines = self._lines, []
            self._read(page)


def rates_of(optimizer: Any) -> tuple[float | None, float | None]:
    """The rate of the first group and the highest of all; one that lies on a device is not worth the wait."""
    groups = optimizer.param_groups
    if len(groups) == 1:
        rate = groups[0].get("lr")
        return (float(rate), float(rate)) if isinstance(rate, (int, float)) else (None, None)
    rates = [group.get("lr") for group in groups]
    known = [rate for rate in rates if isinstance(rate, (int, float))]
    if not known:
        return None, None
    first = rates[0]
    return (float(first) if isinstance(first, (int, float)) else None), max(known)
