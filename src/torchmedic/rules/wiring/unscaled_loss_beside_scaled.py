"""Two losses share a step, one through the `GradScaler` and one not: the unscaled one counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScaledGradientUse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class UnscaledLossBesideScaled(Rule):
    """`scaler.step` divides all gradients by the scale, also those that were never multiplied by it."""

    code = "WIR020"
    name = "unscaled-loss-beside-scaled"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "before one `scaler.step`, one backward ran from a scaled loss and another from an unscaled one"
    needs = (ScaledGradientUse,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for use in run.all(ScaledGradientUse):
            if use.act != "mixed" or use.times < 3:
                continue
            yield self.diagnose(
                headline=f"this loss is not scaled, but its gradient is divided by the scale {use.scale:g}",
                confidence="proven",
                where=use.where,
                label="`backward` without `scaler.scale`",
                also=also((use.scaled_backward, "this loss of the same step is scaled"), where=use.where),
                culprit=Culprit(op="backward", phase="backward"),
                evidence=(
                    f"in {use.times} steps, a scaled and an unscaled backward were added up before `GradScaler.step`, "
                    "which unscales both",
                ),
                remedies=(
                    Remedy(title="scale every loss: `scaler.scale(loss).backward()`"),
                    Remedy(title="or add the losses first and scale their sum"),
                ),
            )
