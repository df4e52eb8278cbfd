"""`LambdaLR` whose function returns a learning rate: it is a factor, and the two are multiplied."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class FactorTakenForRate(Rule):
    """The rate never came near the one the optimizer was built with."""

    code = "WIR032"
    name = "factor-taken-for-rate"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = (
        "the factor of `LambdaLR` is near the size of the learning rate itself, from the first step to the last"
    )
    needs = (SchedulerSeen,)
    folds = ("learning-rate-too-low",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            if seen.type != "LambdaLR" or not 0 < seen.first_lr < 0.5 or seen.steps < 3 or seen.optimizer_steps < 20:
                continue
            factor = seen.largest_lr / seen.first_lr
            # A rate that only rises is a search for the best one.
            if not seen.cuts or not 0 < factor <= min(0.1, 3 * max(seen.rates, default=seen.first_lr)):
                continue
            yield self.diagnose(
                headline=f"`LambdaLR` multiplies the learning rate {seen.first_lr:.2g} by at most {factor:.2g}",
                confidence="likely",
                where=seen.built,
                label="what the function returns is a factor, not a learning rate",
                also=also((seen.optimizer_built, f"lr {seen.first_lr:.2g} is set here"), where=seen.built),
                culprit=Culprit(op="LambdaLR", phase="optimizer"),
                evidence=(f"in {seen.optimizer_steps} steps, the learning rate was never above {seen.largest_lr:.2g}",),
                remedies=(
                    Remedy(title="return a factor: divide by the base rate, or build the optimizer with `lr=1.0`"),
                ),
            )
