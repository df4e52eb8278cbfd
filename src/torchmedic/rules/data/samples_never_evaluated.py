"""An evaluation leaves out the last samples, the same ones every time."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SamplesLeftOut
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SamplesNeverEvaluated(Rule):
    """A loader that is only evaluated on has `drop_last=True` and goes in order."""

    code = "DAT165"
    name = "samples-never-evaluated"
    severity = "warning"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.SCORE_LOW)
    tell_apart = "the score changes with the batch size, and fewer samples are scored than the data set has"
    needs = (SamplesLeftOut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SamplesLeftOut):
            left = seen.rows % seen.batch_size
            loader = f"`{seen.loader}`" if seen.loader else "a loader of the evaluation"
            yield self.diagnose(
                headline=f"the last {left} of {seen.rows} samples of {loader} are never evaluated",
                confidence="proven",
                where=seen.where,
                label=f"`drop_last=True` leaves out {left / seen.rows:.0%} of the samples, always the same",
                culprit=Culprit(op="drop_last", tensor=seen.loader or None, phase="data"),
                evidence=(
                    f"{seen.rows} % {seen.batch_size} = {left} with `drop_last=True`, and the order is never shuffled",
                    "no step of an optimizer is made between its batches: it serves for evaluation",
                ),
                remedies=(Remedy(title="build the loaders of validation and test with `drop_last=False`"),),
            )
