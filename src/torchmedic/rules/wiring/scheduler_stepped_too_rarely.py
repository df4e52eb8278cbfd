"""A schedule laid out in batches is stepped once per epoch: the run ends before the schedule has begun."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, ended_well


class SchedulerSteppedTooRarely(Rule):
    """The length of the schedule is the number of optimizer steps, but it was stepped far less often."""

    code = "WIR024"
    name = "scheduler-stepped-too-rarely"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the schedule's length equals the number of batches, while it is stepped once per epoch"
    needs = (SchedulerSeen,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            length = seen.settings.get("total_steps") or seen.settings.get("T_max") or 0.0
            if not ended_well(run) or seen.nested or not seen.steps or length < 20:
                continue
            fits_batches = 0.7 * length <= seen.optimizer_steps <= 1.4 * length
            if not fits_batches or seen.steps > 0.25 * length:
                continue
            yield self.diagnose(
                headline=f"`{seen.type}` spans {length:g} steps but was stepped {seen.steps} times: lr never got going"
                if seen.type == "OneCycleLR"
                else f"`{seen.type}` spans {length:g} steps but was stepped only {seen.steps} times",
                confidence="proven",
                where=seen.stepped,
                label="runs once per epoch",
                also=also((seen.built, f"laid out for {length:g} calls of `scheduler.step()`"), where=seen.stepped),
                culprit=Culprit(op="scheduler.step", phase="optimizer"),
                evidence=(
                    f"the run made {seen.optimizer_steps} optimizer steps and {counted(seen.steps, 'scheduler step')}",
                    f"lr ended at {seen.last_lr:.2g}; the schedule was {100 * seen.steps / length:.0f} % through",
                ),
                remedies=(
                    Remedy(
                        title="call `scheduler.step()` after every `optimizer.step()`, inside the loop over batches"
                    ),
                    Remedy(title="or lay the schedule out in epochs"),
                ),
            )
