"""Beside a running script: wait for the mark of a standstill; have it told, once, and stop the script if wished."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.ranks.marks import clear_mark, mark_time, note_stop, take_mark
from torchmedic.translation import said

# What there is to tell is imported when there is something to tell: a script does not wait for it to start.
if TYPE_CHECKING:
    from torchmedic.findings import Verdict


class Attendant:
    """Called once a second beside a running script; answers the first mark of a standstill."""

    def __init__(self, folder: Path, on_stuck: str, show: Callable[[Verdict], None] | None = None) -> None:
        self._folder = folder
        self._stops = on_stuck == "stop"
        self._show = show
        self._has_told = False
        self._below: dict[int, tuple[str, int | None]] = {}
        self.stopped = False

    def __call__(self, pid: int) -> None:
        if self._has_told or mark_time(self._folder) is None or not take_mark(self._folder):
            return
        try:
            from torchmedic.cli import _stuck

            if _stuck.tell(self._folder, self._stops, self._show or _stuck.draw_verdict):
                self._has_told = True
                self._below = _stuck.below(pid)
                if self._stops:
                    self.stopped = True
                    note_stop(self._folder)
                    _stuck.stop(pid)
            else:
                clear_mark(self._folder)
        except Exception as error:  # noqa: BLE001 - our faults never take the script down
            self._has_told = True
            told = said(f"torchmedic: could not say where the run stands ({type(error).__name__}: {error})")
            click.echo(told, err=True)

    def clear_up(self) -> None:
        """The script is over; one that hung may have left workers that hang."""
        if self._below:
            from torchmedic.cli._stuck import end_orphans

            end_orphans(self._below)
