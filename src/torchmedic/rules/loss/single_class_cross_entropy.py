"""Cross-entropy over one column: the softmax of a single number is 1, the loss 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, seen, shown


class SingleClassCrossEntropy(Rule):
    """`cross_entropy` is given one column: its loss is 0 (or constant) whatever the model says."""

    code = "LOS008"
    name = "single-class-cross-entropy"
    symptoms = (Symptom.LOSS_ZERO, Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "the class dimension of the loss's input has size 1"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, CLASS_LOSSES, _has_one_class):
            unit = call.target.minimum is not None and call.target.minimum >= 0 and (call.target.maximum or 0) <= 1
            # Whole numbers are classes: with one output, all that are not ignored are of class 0.
            binary = unit or "int" in call.target.dtype
            value = f"exactly {abs(call.loss):g}" if call.loss is not None else "constant"
            yield self.diagnose(
                headline=f"`{call.function}` of one class, `{call.names[0]}` {shown(call.given.shape)}: loss {value}",
                confidence="proven",
                step=call.step,
                where=call.where,
                label="the softmax over one class is always 1",
                culprit=Culprit(op=call.function, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"the loss does not depend on the weights; so it was in {seen(times)}",
                    f"the target `{call.names[1]}` is {call.target} with values in "
                    f"[{call.target.minimum:g}, {call.target.maximum:g}]"
                    if call.target.minimum is not None
                    else f"the target `{call.names[1]}` is {call.target}",
                ),
                remedies=(
                    Remedy(title="use `BCEWithLogitsLoss` for a yes/no target, or give the last layer two outputs")
                    if binary
                    else Remedy(title="use `mse_loss` (or `l1_loss`) for numbers; cross-entropy is for classes"),
                ),
            )


def _has_one_class(call: LossCall) -> bool:
    return len(call.given.shape) > 1 and call.given.shape[call.class_dim] == 1
