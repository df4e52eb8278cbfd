"""A gradient penalty of scaled values: what the loss sees is the gradient times the scale."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScaledGradient
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class ScaledGradientInLoss(Rule):
    """`torch.autograd.grad` of scaled values becomes part of the loss, and nothing takes the scale off."""

    code = "WIR171"
    name = "scaled-gradient-in-loss"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "a gradient penalty is thousands of times too large at first, and changes with the scale of the scaler"
    needs = (ScaledGradient,)
    folds = ("TRN", "LOS", "loss-scale-collapse")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ScaledGradient):
            name = f"`{seen.name}`" if seen.name else "the gradient"
            yield self.diagnose(
                headline=f"{name} enters the loss {seen.scale:g} times too large: it is never unscaled",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.text,
                label=f"the gradient of `{seen.values}`" if seen.values else "the gradient of scaled values",
                also=also((seen.scaled, "scaled here"), where=seen.where),
                culprit=Culprit(op="grad", phase="forward", tensor=seen.name or None),
                evidence=(
                    f"on its way to the loss nothing divides it by the scale, which is {seen.scale:g}",
                    "a penalty that pulls its norm to 1 so pulls the true slope to 1 / scale",
                ),
                remedies=(
                    Remedy(
                        title=f"take the scale off before it is used: `{seen.name or 'x'} / "
                        f"{seen.scaler or 'scaler'}.get_scale()`"
                    ),
                ),
            )
