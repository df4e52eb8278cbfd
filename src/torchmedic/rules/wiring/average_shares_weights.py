"""An averaged copy that is no copy: its tensors are those of the model."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AverageSeen, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class AverageSharesWeights(Rule):
    """What the script calls an average lies in the memory of the model that it should average."""

    code = "WIR055"
    name = "average-shares-weights"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the average and the model share their tensors"
    needs = (AverageSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(AverageSeen):
            if not seen.shared or not seen.named_so:
                continue
            yield self.diagnose(
                headline=f"`{seen.name}` is no copy: it shares its tensors with `{seen.model}`",
                confidence="proven",
                where=seen.built,
                label="the weights of the model themselves",
                culprit=Culprit(phase="setup", tensor=seen.name, parameter=seen.parameter),
                evidence=(
                    f"`{seen.parameter}` of both lies in the same memory: every step moves the average, and every "
                    "update of the average changes the model",
                ),
                remedies=(
                    Remedy(title="make a copy: `copy.deepcopy(model)`, or `p.detach().clone()` for each parameter"),
                ),
            )
