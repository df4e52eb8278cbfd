"""Say where a run stands that has come to a standstill, and end one that hears nothing."""

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
from torchmedic.probes.stuck.activity import command_of, descendants, parent_of, state
from torchmedic.ranks.marks import mark_time
from torchmedic.ranks.merging import load_whole
from torchmedic.ranks.standstill import everyone_answered, everyone_stands
from torchmedic.translation import said

_ANSWER_SECONDS = 6.0
_GRACE_SECONDS = 5.0


def tell(folder: Path, stops: bool, show: Callable[[Verdict], None]) -> bool:
    """Wait until every rank has said where it is; whether all of them stand, and something could be said of it."""
    from torchmedic.triage import examine

    asked = mark_time(folder) or 0.0
    until = time.monotonic() + _ANSWER_SECONDS
    run = load_whole(folder)
    while not everyone_answered(run, asked) and time.monotonic() < until:
        time.sleep(0.2)
        run = load_whole(folder)
    if not everyone_stands(run):
        return False
    verdict = _about_standing(examine(run))
    if verdict.diagnoses:
        # Nobody may be listening any more (`… | head`): what is done about the hang does not depend on it.
        with contextlib.suppress(BrokenPipeError):
            click.echo(said(f"torchmedic: {_head(run, stops)}"), err=True)
            if not stops:  # one that is stopped gets its verdict in a moment, with all the rest
                show(verdict)
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


def draw_verdict(verdict: Verdict) -> None:
    from torchmedic.render.text import draw

    draw(verdict, console(error_stream=True))


def stop(pid: int) -> None:
    """Ask the script to end, then end it and what it leaves behind: a worker in a deadlock hears nothing else."""
    below = descendants(pid)
    _send(pid, signal.SIGTERM)
    until = time.monotonic() + _GRACE_SECONDS
    while state(pid) not in ("", "Z") and time.monotonic() < until:
        time.sleep(0.1)
    for process in (pid, *below):
        _send(process, signal.SIGKILL)


def below(pid: int) -> dict[int, tuple[str, int | None]]:
    """The processes below one, with their commands and parents."""
    return {one: (command_of(one), parent_of(one)) for one in descendants(pid)}


def end_orphans(known: dict[int, tuple[str, int | None]]) -> None:
    """End what a script that hung, and was ended, has left behind: its workers hang too, and hear of no end."""
    for pid, (command, parent) in known.items():
        if state(pid) not in ("", "Z") and command_of(pid) == command and parent_of(pid) != parent:
            _send(pid, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
