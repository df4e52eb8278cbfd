"""Two optimizers hold the same parameters and step on the same gradient: every update is made twice."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GradientCycles, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import listed


class SameGradientAppliedTwice(Rule):
    """No backward ran between the steps of two optimizers that share parameters."""

    code = "WIR017"
    name = "same-gradient-applied-twice"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "both optimizers stepped on the same parameters, and no backward ran between"
    needs = (GradientCycles,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GradientCycles):
            if seen.doubled < 3 or seen.doubled < 0.5 * seen.cycles:
                continue
            yield self.diagnose(
                headline=f"two optimizers apply the same gradient to {listed(seen.doubled_names, 1)}",
                confidence="proven",
                where=seen.built,
                label=f"shares parameters with the {seen.doubled_with}",
                culprit=Culprit(parameter=seen.doubled_names[0], phase="setup"),
                evidence=(
                    f"{listed(seen.doubled_names)} are in both, and both stepped without a backward between, "
                    f"{seen.doubled} times in {seen.cycles} steps",
                ),
                remedies=(Remedy(title="give each parameter to one optimizer"),),
            )
