"""A schedule as long as there are updates is stepped for every micro-batch: it is over long before the training."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._schedules import calls_for_each_update
from torchmedic.rules.wiring._telling import also


class SchedulerSteppedPerMicroBatch(Rule):
    """Gradients are accumulated, and `scheduler.step()` does not wait for the update as `optimizer.step()` does."""

    code = "WIR270"
    name = "scheduler-stepped-per-micro-batch"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the scheduler steps several times for each step of the optimizer"
    needs = (SchedulerSeen,)
    folds = ("TRN", "learning-rate-zero")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            often = calls_for_each_update(seen)
            if not often or seen.stepped is None:
                continue
            over = round(seen.optimizer_steps / often)
            yield self.diagnose(
                headline=f"`{seen.type}` is stepped {often:.3g} times for each step of the optimizer",
                confidence="proven",
                where=seen.stepped,
                label=f"ran {seen.steps} times, the optimizer {seen.optimizer_steps} times",
                also=also((seen.built, f"laid out for {seen.optimizer_steps} calls or nearly so"), where=seen.stepped),
                culprit=Culprit(op="scheduler.step", phase="optimizer"),
                evidence=(
                    f"the schedule is about as long as there are updates, and was at its end after {over} of them",
                    f"the learning rate was {seen.first_lr:.2g} at first and {seen.last_lr:.2g} at last",
                ),
                remedies=(
                    Remedy(title="call `scheduler.step()` where the optimizer steps: under the same `if`"),
                    Remedy(
                        title="with Accelerate, hand the scheduler to `accelerator.prepare`: it waits for the update"
                    ),
                ),
            )
