"""The learning rate is scaled with the number of workers, or with the batch, in two places."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RateScaledTwice, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class RateScaledTwiceRule(Rule):
    """Two lines that the rate came through multiply it by the same number."""

    code = "TRN052"
    name = "rate-scaled-twice"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the rate that the optimizer works with is the one you meant, times a number once too often"
    needs = (RateScaledTwice,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(RateScaledTwice):
            yield self.diagnose(
                headline=f"the rate is multiplied by `{seen.factor}` = {seen.value:g} twice: lr is {seen.rate:.3g}",
                confidence="proven",
                where=seen.where,
                label=f"once by `{seen.factor}` here",
                also=(Also(location=seen.again, why=f"and once by `{seen.again_by}` here"),),
                culprit=Culprit(op=seen.optimizer, tensor=seen.factor, phase="optimizer"),
                evidence=(
                    f"`{seen.optimizer}` works with lr={seen.rate:.3g}; multiplied once it would be "
                    f"{seen.rate / seen.value:.3g}",
                ),
                remedies=(Remedy(title=f"multiply by `{seen.factor}` in one of the two places"),),
            )
