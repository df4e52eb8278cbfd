"""Runs mutants and healthy scripts under torchmedic in forks of this process, and judges what was said."""

from __future__ import annotations

import os
import re
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from bench.mutation.catalogue import HEALTHY
from bench.mutation.script import Mutant
from tests.running import run_watched

_BETTER_WHEN_HIGHER = ("accuracy", "auc", "return", "success", "purity", "top-1")
_TIMEOUT = 150


@dataclass(frozen=True)
class Heard:
    """What torchmedic said first of a script, and what the script printed."""

    code: str = ""
    line: int = 0
    headline: str = ""
    output: str = ""
    status: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Result:
    """A judged mutant.

    `verdict` is "exact", "line", "cause", "found", "silent", "harmless", or "failed" when a probe was switched off.
    """

    mutant: Mutant
    heard: Heard
    verdict: str


def listen(name: str, source: str) -> Heard:
    """Run a script in a folder of its own, watched."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{name}.py"
        script.write_text(source)
        watched = run_watched(script, timeout=_TIMEOUT)
    printed = Heard(output=watched.stdout, status=watched.status, seconds=round(time.monotonic() - began, 1))
    if "switched off" in watched.stderr:
        line = next(line for line in watched.stderr.splitlines() if "switched off" in line)
        return replace(printed, code="FAIL", headline=line)
    loud = [d for d in watched.verdict.diagnoses if d.severity != "hint"]
    if not loud:
        return printed
    first = loud[0]
    line = first.where.line if first.where and os.path.basename(first.where.file) == f"{name}.py" else 0
    return replace(printed, code=first.code, line=line, headline=first.headline)


def listen_to_mutant(mutant: Mutant) -> Heard:
    return listen(mutant.script, mutant.source)


def listen_to_healthy(name: str) -> Heard:
    return listen(name, (HEALTHY / f"{name}.py").read_text())


def judge(mutant: Mutant, heard: Heard, healthy: Heard | None = None) -> Result:
    """The verdict; a silent mutant is compared with the healthy script where that has run."""
    if not heard.code:
        harmless = healthy is not None and is_harmless(mutant, heard, healthy)
        return Result(mutant, heard, "harmless" if harmless else "silent")
    on_line = heard.line in mutant.lines
    named = any(heard.code.startswith(code) for code in mutant.codes)
    if heard.code == "FAIL":
        return Result(mutant, heard, "failed")
    verdict = "exact" if on_line and named else "line" if on_line else "cause" if named else "found"
    return Result(mutant, heard, verdict)


def is_harmless(mutant: Mutant, heard: Heard, healthy: Heard) -> bool:
    """Same output as before, or, where a choice was changed, a last figure as good as before."""
    if heard.status != healthy.status:
        return False
    if heard.output == healthy.output:
        return True
    return mutant.is_tuning and is_as_good(heard.output, healthy.output)


def is_as_good(now: str, before: str) -> bool:
    """Whether the figure of the last line is not worse by more than a tenth, nor by more than 0.03 where it is a share.

    >>> is_as_good("final test accuracy 0.93", "final test accuracy 0.95")
    True
    >>> is_as_good("final mse 0.4 (variance 1)", "final mse 0.1 (variance 1)")
    False
    """
    word = next((w for w in _BETTER_WHEN_HIGHER if w in before.strip().splitlines()[-1].lower()), "")
    figure, reference = _last_figure(now, word), _last_figure(before, word)
    if figure is None or reference is None:
        return False
    loss = reference - figure if word else figure - reference
    return loss <= max(0.03 if abs(reference) > 0.3 else 0.003, 0.1 * abs(reference))


def _last_figure(output: str, after: str) -> float | None:
    """The first number of the last line, behind a word."""
    lines = output.strip().lower().splitlines()
    text = lines[-1].partition(after)[2] if lines and after else lines[-1] if lines else ""
    numbers = re.findall(r"(?<![\w.-])[-+]?\d+\.\d+(?:e[-+]?\d+)?", text)
    return float(numbers[0]) if numbers else None
