"""Worker processes that run the script again because nothing keeps it from starting."""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, RefetchedSample, Run
from torchmedic.findings import Confidence, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import refetched
from torchmedic.rules.errors._reading import said
from torchmedic.rules.errors._syntax import Code

_SPAWNING = ("spawn", "forkserver")


class MissingMainGuard(Rule):
    """A process started by spawn imports the script, which starts processes in turn."""

    code = "ERR035"
    name = "missing-main-guard"
    symptoms = (Symptom.CRASH,)
    tell_apart = (
        "`before the current process has finished its bootstrapping phase`, or spawned workers that die at once"
    )
    needs = (Crash,)
    folds = ("dead-worker",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        confidence = _confidence(run, crash)
        where = _unguarded(run, crash) if crash is not None and confidence else None
        if confidence is None or (where is None and confidence != "proven"):
            return
        yield self.diagnose(
            headline="worker processes run the whole script again: it has no `__main__` guard",
            confidence=confidence,
            where=where,
            label="runs in every process that imports the script",
            evidence=tuple(_evidence(run)),
            remedies=(
                Remedy(
                    title="put what the script does into a function and call it below a guard",
                    diff='+ if __name__ == "__main__":\n+     main()',
                ),
                Remedy(title="in a notebook, move the dataset and the functions of workers into a module file"),
            ),
        )


def _confidence(run: Run, crash: Crash | None) -> Confidence | None:
    if said(crash, "bootstrapping phase", "freeze_support"):
        return "proven"
    seen = refetched(run)
    died = said(crash, r"DataLoader worker \(pid.*exited unexpectedly")
    if died and seen is not None and seen.start_method in _SPAWNING and _ends_early(seen) and not seen.failed:
        return "likely"
    return None


def _ends_early(seen: RefetchedSample) -> bool:
    """With status 1, or sent away by the parent because another of the loader's workers had ended so."""
    return seen.worker_exit == 1 or seen.worker_signal == signal.SIGTERM


def _unguarded(run: Run, crash: Crash) -> Location | None:
    """The statement at the top level of the script that was running, unless a guard stands around it."""
    top = next((f.location for f in crash.frames if f.is_user and f.location.function in ("", "<module>")), None)
    if top is None:
        return None
    tree = Code.of(run).trees.get(top.file)
    guards = [n for n in tree.body if isinstance(n, ast.If) and "__name__" in ast.unparse(n.test)] if tree else []
    inside = any(g.lineno <= top.line <= (g.end_lineno or 0) for g in guards)
    return None if inside else top


def _evidence(run: Run) -> Iterator[str]:
    yield "a process started by `spawn` imports the script to find its functions, and so runs all that is not guarded"
    seen = run.last(RefetchedSample)
    if seen is not None and seen.worker_exit is not None:
        yield f"this loader's workers are started by `{seen.start_method}` and ended with status {seen.worker_exit}"
