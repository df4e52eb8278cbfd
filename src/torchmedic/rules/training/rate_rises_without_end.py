"""A warm-up that never ends: the learning rate rises through the whole run."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_RISE, _MOST_RISE = 3.0, 300.0
_LEAST_STEPS = 20


class RateRisesWithoutEnd(Rule):
    """The factor of a `LambdaLR` goes up at every step, past 1, and is at its highest when the run ends."""

    code = "TRN041"
    name = "rate-rises-without-end"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "the learning rate is many times the one that the optimizer was built with, and still rises"
    needs = (SchedulerSeen,)
    folds = ("learning-rate-too-high", "diverged-after-rate-change")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            rise = seen.last_lr / seen.first_lr if seen.first_lr else 0.0
            if seen.type != "LambdaLR" or seen.cuts or seen.turns or seen.steps < _LEAST_STEPS:
                continue
            if not _LEAST_RISE <= rise <= _MOST_RISE or seen.rises < seen.steps - 1:
                continue
            yield self.diagnose(
                headline=f"the learning rate rises at every step, to {rise:.3g} times the one it was given",
                confidence="likely",
                where=seen.factor_made or seen.built,
                label=f"{rise:.3g} at the end of the run",
                also=also((seen.built, "the `LambdaLR` is built here"), (seen.optimizer_built, "the optimizer")),
                culprit=Culprit(op="LambdaLR", phase="optimizer"),
                evidence=(
                    f"the optimizer was given lr={seen.first_lr:g}; after {seen.steps} steps it is at {seen.last_lr:g} "
                    f"and has never stopped rising",
                    "a warm-up ends at the factor 1",
                ),
                remedies=(Remedy(title="put a cap on the factor: `min(1.0, …)`"),),
            )
