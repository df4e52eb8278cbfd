"""Numbers on the command line, named for what they are."""

from __future__ import annotations

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """A length of time: neither endless nor no number at all."""

    name = "number of seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"'{value}' is not a valid {self.name}.", param, ctx)
        return seconds


class ProcessNumber(click.IntRange):
    """The number under which the system knows a process."""

    name = "process number"
