"""Several right classes per sample in a loss that expects one distribution."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, seen


class MultiHotCrossEntropy(Rule):
    """`cross_entropy` is given 0/1 targets with several ones in a row."""

    code = "LOS014"
    name = "multi-hot-cross-entropy"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the float target of `cross_entropy` has rows that sum to 2 or more"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("cross_entropy",), _is_multi_hot):
            low, high = call.target_rows or (0.0, 0.0)
            yield self.diagnose(
                headline=f"`cross_entropy` is given {low:g} to {high:g} right classes per row in `{call.names[1]}`",
                confidence="likely",
                step=call.step,
                where=call.where,
                label="its softmax lets one class win at the cost of the others",
                culprit=Culprit(op="cross_entropy", phase="forward", tensor=call.names[1]),
                evidence=(
                    f"`{call.names[1]}` is {call.target} of zeros and ones; so it was in {seen(times)}",
                    "as a distribution over classes, every row would sum to 1",
                ),
                remedies=(
                    Remedy(title="use `BCEWithLogitsLoss` for labels that can be true together"),
                    Remedy(title="or divide each row by its sum"),
                ),
            )


def _is_multi_hot(call: LossCall) -> bool:
    rows = call.target_rows
    zero_one = call.target.minimum == 0 and call.target.maximum == 1
    return rows is not None and zero_one and rows[1] >= 2 and float(rows[1]).is_integer() and len(call.given.shape) > 1
