"""Clipping before `unscale_`: the limit is compared with gradients that are thousands of times too large."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScaledGradientUse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class ClippedWhileScaled(Rule):
    """`clip_grad_norm_` or `clip_grad_value_` saw gradients that still carried the scale of a `GradScaler`."""

    code = "WIR018"
    name = "clipped-while-scaled"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the gradients came from a scaled loss, and `unscale_` had not run when they were clipped"
    needs = (ScaledGradientUse,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for use in run.all(ScaledGradientUse):
            if use.act != "clip" or use.times < 3:
                continue
            limit = f"{use.limit:g}" if use.limit is not None else "the limit"
            true_limit = f"{use.limit / use.scale:.2g}" if use.limit is not None else "far less"
            yield self.diagnose(
                headline=f"`{use.function}` clips gradients that are still scaled by {use.scale:g}",
                confidence="proven",
                where=use.where,
                label=f"a limit of {limit} on scaled gradients is one of {true_limit} on the true ones",
                also=also((use.scaled_backward, "the loss is multiplied by the scale of the `GradScaler` here")),
                culprit=Culprit(op=use.function, phase="optimizer"),
                evidence=(
                    f"{use.times} times, `{use.function}` ran after a scaled backward and before `unscale_`",
                    f"`GradScaler.step` then divides by {use.scale:g}, so that next to nothing is left of the update",
                ),
                remedies=(Remedy(title=f"call `scaler.unscale_(optimizer)` before `{use.function}`"),),
            )
