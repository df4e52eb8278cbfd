"""`dist.sample()` where the gradient should flow through the sample: `rsample()` is meant."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SampledWithoutGradient
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import listed


class SampleWithoutGradient(Rule):
    """Samples of a learned distribution are drawn in training, and neither reparameterised nor scored."""

    code = "WIR012"
    name = "sample-without-gradient"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "`sample()` runs under `no_grad`, and `log_prob` of the distribution is never asked for"
    needs = (SampledWithoutGradient,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SampledWithoutGradient):
            yield self.diagnose(
                headline=f"`sample()` of a learned `{seen.distribution}` stops the gradient; nothing uses `log_prob`",
                confidence="likely",
                where=seen.where,
                mark="sample" if "sample" in seen.where.source else "",
                label="`sample()` is drawn without a graph",
                culprit=Culprit(op=f"{seen.distribution}.sample", tensor=", ".join(seen.parameters), phase="forward"),
                evidence=(
                    f"{listed(seen.parameters)} of the distribution need a gradient, the sample has none",
                    "`log_prob` was never called, so the score-function trick is not in use either",
                ),
                remedies=(Remedy(title="draw with `rsample()`: the reparameterised sample passes the gradient on"),),
            )
