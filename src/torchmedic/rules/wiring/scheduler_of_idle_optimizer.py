"""A scheduler that drives an optimizer nobody steps: the one that trains keeps its learning rate."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class SchedulerOfIdleOptimizer(Rule):
    """The scheduler steps, its optimizer never does, and another one does all the work."""

    code = "WIR031"
    name = "scheduler-of-idle-optimizer"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the optimizer that steps is not the one that the scheduler holds"
    needs = (SchedulerSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            if seen.steps < 3 or seen.optimizer_steps or seen.other_steps < 20 or seen.nested:
                continue
            yield self.diagnose(
                headline=f"`{seen.type}` drives an optimizer that never steps; another one trains",
                confidence="proven",
                where=seen.built,
                label="holds the optimizer that is not used",
                also=also(
                    (seen.other_built, "this optimizer steps, at an unchanged learning rate"),
                    (seen.optimizer_built, "this one the scheduler holds"),
                    where=seen.built,
                ),
                culprit=Culprit(op="scheduler", phase="setup"),
                evidence=(
                    f"`scheduler.step()` ran {seen.steps} times, its optimizer never, another {seen.other_steps} times",
                ),
                remedies=(Remedy(title="build the scheduler with the optimizer that steps, after it was built"),),
            )
