"""`optimizer.step()` on gradients of a scaled loss: the update is thousands of times too large."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScaledGradientUse, SickStep
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class SteppedWithScaledGradients(Rule):
    """The optimizer stepped by itself, though the loss was scaled and nothing had unscaled the gradients."""

    code = "WIR019"
    name = "stepped-with-scaled-gradients"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "`optimizer.step()` ran outside of `scaler.step`, on gradients of a scaled loss"
    needs = (ScaledGradientUse,)
    folds = ("TRN", "NUM")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        # Updates that are thousands of times too large do not leave the time to see many.
        least = 1 if run.first(SickStep) is not None else 3
        for use in run.all(ScaledGradientUse):
            if use.act != "step" or use.times < least:
                continue
            yield self.diagnose(
                headline=f"`optimizer.step()` uses gradients that are still scaled by {use.scale:g}",
                confidence="proven",
                where=use.where,
                label="`scaler.step(optimizer)` would unscale them first",
                also=also((use.scaled_backward, "the loss is scaled here"), where=use.where),
                culprit=Culprit(op="step", phase="optimizer"),
                evidence=(f"{use.times} steps ran without `GradScaler.step` or `unscale_` after a scaled backward",),
                remedies=(
                    Remedy(title="call `scaler.step(optimizer)` and `scaler.update()` in place of `optimizer.step()`"),
                ),
            )
