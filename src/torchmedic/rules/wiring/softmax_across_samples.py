"""A softmax inside the model that runs along the batch: samples share one weight of 1 among them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SamplesMixed
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import shown
from torchmedic.rules.wiring._telling import repeated


class SoftmaxAcrossSamples(Rule):
    """Weights that should add up to 1 within a sample add up to 1 over the batch."""

    code = "WIR072"
    name = "softmax-across-samples"
    symptoms = (Symptom.SCORE_LOW, Symptom.SCORE_TOO_GOOD)
    tell_apart = "the answer for one sample changes with the other samples of its batch"
    needs = (SamplesMixed,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        mixed = (seen for seen in run.all(SamplesMixed) if seen.others)
        for found in repeated(mixed, key=lambda seen: seen.where):
            yield self._diagnosis(found[0])

    def _diagnosis(self, seen: SamplesMixed) -> Diagnosis:
        samples = seen.shape[0]
        return self.diagnose(
            headline=f"the {seen.op} runs over the {samples} samples of the batch (dim=0)",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label="dim=0 is the batch",
            culprit=Culprit(op=seen.op, phase="forward"),
            evidence=(
                f"it is given {shown(seen.shape)}, one row for each answer that the loss gets",
                f"followed back by its gradient, the answer for the first sample depends on {seen.others} others",
            ),
            remedies=(
                Remedy(title="let it run within a sample: `dim=1` or `dim=-1`, whichever holds what is weighed"),
            ),
        )
