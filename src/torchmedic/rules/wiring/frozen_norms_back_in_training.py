"""BatchNorm layers that were frozen by `eval()`, and that `train()` of the whole model has woken again."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NormsBackInTraining, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted

_ENOUGH = 5


class FrozenNormsBackInTraining(Rule):
    """Every training step finds them in training mode, although somebody took the trouble to switch them one by one."""

    code = "WIR122"
    name = "frozen-norms-back-in-training"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "`eval()` was called on BatchNorm layers, and they train all the same"
    needs = (NormsBackInTraining,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(NormsBackInTraining):
            if seen.steps < _ENOUGH:
                continue
            yield self.diagnose(
                headline=f"`train()` has undone the `eval()` of {counted(seen.norms, 'BatchNorm layer')}",
                confidence="likely",
                where=seen.where,
                label="lasts only until `train()` is called on the model",
                also=also((seen.train_called, "switches them back"), where=seen.where),
                culprit=Culprit(op="eval", phase="forward"),
                evidence=(
                    f"in training mode at all {seen.steps} steps looked at: they normalise by the batch, and their "
                    "running statistics change",
                ),
                remedies=(Remedy(title="freeze them after every `model.train()`, or in a `train` of the model's own"),),
            )
