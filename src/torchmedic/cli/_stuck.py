"""While a script runs: say so, once, when it has come to a standstill, and stop it if that is wished."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from torchmedic.cli._output import console
from torchmedic.facts import Run, standing_of
from torchmedic.findings import Symptom, Verdict
from torchmedic.probes.activity import descendants, state
from torchmedic.ranks.marks import clear_mark, mark_time, take_mark
from torchmedic.ranks.merging import load_whole
from torchmedic.ranks.standstill import everyone_answered, everyone_stands
from torchmedic.translation import said

_ANSWER_SECONDS = 6.0
_GRACE_SECONDS = 5.0


class Attendant:
    """Called once a second beside a running script; answers the first mark of a standstill."""

    def __init__(self, folder: Path, on_stuck: str, show: Callable[[Verdict], None] | None = None) -> None:
        self._folder = folder
        self._stops = on_stuck == "stop"
        self._show = show or _draw
        self._has_told = False
        self.stopped = False

    def __call__(self, pid: int) -> None:
        if self._has_told or mark_time(self._folder) is None or not take_mark(self._folder):
            return
        try:
            if self._tell():
                self._has_told = True
                if self._stops:
                    self.stopped = True
                    _stop(pid)
            else:
                clear_mark(self._folder)
        except Exception as error:  # noqa: BLE001 - our faults never take the script down
            self._has_told = True
            told = said(f"torchmedic: could not say where the run stands ({type(error).__name__}: {error})")
            click.echo(told, err=True)

    def _tell(self) -> bool:
        from torchmedic.triage import examine

        asked = mark_time(self._folder) or 0.0
        until = time.monotonic() + _ANSWER_SECONDS
        run = load_whole(self._folder)
        while not everyone_answered(run, asked) and time.monotonic() < until:
            time.sleep(0.2)
            run = load_whole(self._folder)
        if not everyone_stands(run):
            return False
        verdict = _about_standing(examine(run))
        if verdict.diagnoses:
            click.echo(said(f"torchmedic: {_head(run, self._stops)}"), err=True)
            self._show(verdict)
        return bool(verdict.diagnoses)


def _about_standing(verdict: Verdict) -> Verdict:
    """Only what is said of the standstill: the rest waits for the end of the run."""
    from torchmedic.rules import by_code

    rules = {d.code: by_code(d.code) for d in verdict.diagnoses}
    chosen = tuple(
        d for d in verdict.diagnoses if (rule := rules[d.code]) is not None and Symptom.STUCK in rule.symptoms
    )
    return replace(verdict, diagnoses=chosen, unexplained=())


def _head(run: Run, stops: bool) -> str:
    standing = [s for s in map(standing_of, run.ranks or (run,)) if s is not None]
    seconds = max(s.still for s in standing)
    usual = next((f"; a step takes {s.usual:.2g} s as a rule" for s in standing if s.usual is not None), "")
    after = "it is stopped" if stops else "it is left alone (`--on-stuck stop` would end it)"
    return f"the run has stood still for {seconds:.0f} s{usual}; {after}"


def _draw(verdict: Verdict) -> None:
    from torchmedic.render.text import draw

    draw(verdict, console(error_stream=True))


def _stop(pid: int) -> None:
    """Ask the script to end, then end it and what it leaves behind: a worker in a deadlock hears nothing else."""
    below = descendants(pid)
    _send(pid, signal.SIGTERM)
    until = time.monotonic() + _GRACE_SECONDS
    while state(pid) not in ("", "Z") and time.monotonic() < until:
        time.sleep(0.1)
    for process in (pid, *below):
        _send(process, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
