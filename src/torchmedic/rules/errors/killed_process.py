"""The process was killed from outside, most often because memory ran out."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ChildDeath, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class KilledProcess(Rule):
    """SIGKILL leaves no traceback; the peak of memory is what can be told."""

    code = "ERR060"
    name = "killed-process"
    symptoms = (Symptom.DEATH, Symptom.MEMORY_GROWS)
    tell_apart = "the shell says `Killed`, the status is 137"
    needs = (ChildDeath,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        death = run.last(ChildDeath)
        if death is None or death.name != "SIGKILL":
            return
        steps = f" after {run.info.steps} optimizer steps" if run.info.steps else ""
        yield self.diagnose(
            headline=f"the process was killed from outside (SIGKILL){steps}",
            confidence="possible",
            where=death.last_seen,
            label="the line it was last seen on",
            culprit=Culprit(phase="setup" if not run.info.steps else None),
            evidence=tuple(_evidence(death)),
            remedies=(
                Remedy(title="look at the kernel's log for the out-of-memory killer: `dmesg | tail`"),
                Remedy(title="hold less in memory: read data in parts, use fewer workers, keep `.item()` of losses"),
                Remedy(title="on a cluster, compare the job's memory and time limits with what it asked for"),
            ),
        )


def _evidence(death: ChildDeath) -> Iterator[str]:
    if death.peak_memory is not None and death.peak_memory >= 2**30:
        yield f"its memory had reached {death.peak_memory / 2**30:.1f} GB"
    elif death.peak_memory is not None:
        yield "its memory stayed below 1 GB, so that a kill by hand or by a scheduler is as likely"
    yield "the kernel kills with SIGKILL when memory runs out; so do schedulers at their limits, and `kill -9`"
