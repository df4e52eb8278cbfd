"""A process that waits for a lock on a file which another one holds."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchmedic.facts import Run, Standing
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._standing import since, stuck


class FileLockNeverReleased(Rule):
    """The main thread is blocked in `flock` or `lockf`; the system's table of locks says who is in front."""

    code = "RNK002"
    name = "file-lock-never-released"
    symptoms = (Symptom.STUCK,)
    tell_apart = "the main thread is blocked on a lock of a file, and the system knows the process that holds it"
    needs = (Standing,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        standing = stuck(run)
        if standing is None or standing.waits_for not in ("file-lock", "lock-file"):
            return
        if standing.waits_for == "lock-file" and standing.holder is None:
            yield self._left_behind(standing)
            return
        file = os.path.basename(standing.file) or "a file"
        yield self.diagnose(
            headline=f"the run waits for the lock on `{file}`, held by {_holder(standing)}",
            confidence="proven" if standing.holder is not None else "likely",
            where=standing.where,
            label="waits here for the lock",
            step=standing.step,
            culprit=Culprit(op="flock", phase="data", tensor=file),
            evidence=(since(standing) if standing.waits_for == "file-lock" else _nothing_else(standing),),
            remedies=(
                Remedy(title="end the process that holds the lock, or have it close the file"),
                Remedy(title="take the lock with a limit (`LOCK_EX | LOCK_NB`), and say so when it is taken"),
            ),
        )

    def _left_behind(self, standing: Standing) -> Diagnosis:
        """A file that is the lock by being there: the system does not know whose it is, and leaves it when they die."""
        file = os.path.basename(standing.file)
        named = f"the lock file `{file}`" if file else "a lock file"
        return self.diagnose(
            headline=f"the run waits for {named} to go away",
            confidence="likely",
            where=standing.where,
            label="asks here again and again",
            step=standing.step,
            culprit=Culprit(phase="data", tensor=file or None),
            evidence=(
                _nothing_else(standing),
                *((f"the file is `{standing.file}`, and no process holds a lock of the system on it",) if file else ()),
            ),
            remedies=(
                Remedy(title="remove the file if who made it is gone: a run that was killed leaves its own behind"),
                Remedy(title="lock with `fcntl.flock`, which the system gives back when its holder ends"),
                Remedy(title="give the wait a limit, and name the file when it is reached"),
            ),
        )


def _nothing_else(standing: Standing) -> str:
    if not standing.step:
        return "before the first step it came to nothing else"
    return f"after step {standing.step} it did nothing else any more"


def _holder(standing: Standing) -> str:
    if standing.holder is None:
        return "another process"
    if standing.holder == standing.pid:
        return "this very process"
    return f"process `{os.path.basename(standing.holder_name.split(' ')[0]) or 'another'}`"
