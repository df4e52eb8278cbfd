"""Softmax twice: once in the model, once inside the cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, loss_line, made_by, over_classes, seen


class SoftmaxBeforeCrossEntropy(Rule):
    """`cross_entropy` is given probabilities and takes their softmax again."""

    code = "LOS001"
    name = "softmax-before-cross-entropy"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "every row that `cross_entropy` is given sums to 1 and lies in [0, 1]"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("cross_entropy", "log_softmax"), _is_probability):
            softmax = call.producer is not None and call.producer.op == "softmax"
            where = call.producer.to_edit if call.producer and softmax else call.where
            classes = call.given.shape[call.class_dim]
            source = made_by(call.producer) if softmax else call.names[0]
            yield self.diagnose(
                headline=f"softmax is applied twice: `{call.function}` is given probabilities, not logits",
                confidence="proven" if softmax else "likely",
                step=call.step,
                where=where,
                mark=call.producer.expression if call.producer and softmax else "",
                label="softmax here …",
                also=loss_line(call, f"… and again in `{call.function}` of `{call.names[0]}`") if softmax else (),
                culprit=Culprit(op="softmax", phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, every row of `{call.names[0]}` is in {given_range(call)} and sums "
                    f"to 1; `{source}` made it",
                    f"logits between 0 and 1 keep the loss of {classes} classes above {_floor(classes):.2f} "
                    f"whatever is learned",
                ),
                remedies=(
                    Remedy(title=f"return the raw scores: remove the softmax before `{call.function}`"),
                    Remedy(title="take softmax only where probabilities are shown or thresholded"),
                ),
            )


def _is_probability(call: LossCall) -> bool:
    return over_classes(call) and not call.is_log and call.given.shape[call.class_dim] > 1


def _floor(classes: int) -> float:
    """The loss when the right class has probability 1 and all others 0, taken as logits."""
    import math

    return math.log(math.e + classes - 1) - 1
