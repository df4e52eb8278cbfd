"""An average that was put into the model for an evaluation stays in it: the training goes on from there."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AverageLeftIn, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class AverageLeftInModel(Rule):
    """The model's own weights were set aside or can be restored, and the next update is made on the average."""

    code = "WIR272"
    name = "average-left-in-model"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "after an evaluation the model's weights are those of its average"
    needs = (AverageLeftIn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(AverageLeftIn):
            where = seen.where or seen.restore
            yield self.diagnose(
                headline=f"`{seen.name}` takes the place of the trained weights, and is never taken out again",
                confidence="proven" if seen.backup else "likely",
                step=seen.step,
                where=where,
                label=f"puts the average into `{seen.model}`" if seen.where else "nothing calls it",
                also=also((seen.restore, "nothing calls it"), where=where),
                culprit=Culprit(phase="optimizer", tensor=seen.name, parameter=seen.parameter),
                evidence=(
                    f"{seen.times} times `{seen.parameter}` was another before an update than the last update had left "
                    f"it: that of `{seen.name}`",
                    *((f"what was trained lies in `{seen.backup}`, and was not put back",) if seen.backup else ()),
                ),
                remedies=(
                    Remedy(title="put the model's own weights back when the evaluation is over"),
                    Remedy(title="or evaluate a copy of the model that holds the average"),
                ),
            )
