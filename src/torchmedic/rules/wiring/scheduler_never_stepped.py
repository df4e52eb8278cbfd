"""A scheduler is built and never stepped: the learning rate stays where it began."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import ended_well


class SchedulerNeverStepped(Rule):
    """Several epochs, or hundreds of steps, without one call of `scheduler.step()`."""

    code = "WIR026"
    name = "scheduler-never-stepped"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "`scheduler.step()` never ran in a run that came to its end"
    needs = (SchedulerSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            long_enough = seen.optimizer_steps >= 100 or (seen.epochs >= 3 and seen.optimizer_steps >= 20)
            if seen.steps or not long_enough or not ended_well(run):
                continue
            yield self.diagnose(
                headline=f"`{seen.type}` was built but never stepped in {seen.optimizer_steps} optimizer steps",
                confidence="proven",
                where=seen.built,
                label=f"the learning rate stayed at {seen.last_lr:.3g}",
                culprit=Culprit(op="scheduler.step", phase="optimizer"),
                evidence=(f"`scheduler.step()` was called 0 times, `optimizer.step()` {seen.optimizer_steps} times",),
                remedies=(Remedy(title="call `scheduler.step()` after each epoch (or batch, if it counts batches)"),),
            )
