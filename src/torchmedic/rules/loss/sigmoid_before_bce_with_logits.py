"""Sigmoid twice: once in the model, once inside the loss."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, loss_line, made_by, seen

_NAME = "binary_cross_entropy_with_logits"


class SigmoidBeforeBceWithLogits(Rule):
    """`binary_cross_entropy_with_logits` is given the output of a sigmoid (or softmax)."""

    code = "LOS002"
    name = "sigmoid-before-bce-with-logits"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the call that made the loss's input is a sigmoid"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, (_NAME,), _is_squashed):
            assert call.producer is not None
            op = call.producer.op
            yield self.diagnose(
                headline=f"{op} is applied twice: `{_NAME}` is given probabilities",
                confidence="proven",
                step=call.step,
                where=call.producer.to_edit,
                mark=call.producer.expression,
                label=f"{op} here …",
                also=loss_line(call, "… and a sigmoid again inside `BCEWithLogitsLoss`"),
                culprit=Culprit(op=op, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, `{call.names[0]}` is in {given_range(call)}; `"
                    f"{made_by(call.producer)}` made it",
                    "the sigmoid of a value in [0, 1] is in [0.50, 0.73]: the loss never sees a confident no",
                ),
                remedies=(
                    Remedy(title=f"return the raw scores: remove the {op}, and use it only to show probabilities"),
                    Remedy(title="or keep it and use `nn.BCELoss`", detail="less exact in float32"),
                ),
            )


def _is_squashed(call: LossCall) -> bool:
    low, high = call.given.minimum, call.given.maximum
    ranged = low is not None and high is not None and low >= 0 and high <= 1
    return call.producer is not None and call.producer.op in ("sigmoid", "softmax", "hardsigmoid") and ranged
