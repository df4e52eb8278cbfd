"""A softmax along the batch: samples compete with each other instead of classes."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, loss_line, made_by, seen, shown

_SOFTMAX = ("softmax", "log_softmax")


class SoftmaxOverBatch(Rule):
    """The softmax before a classification loss runs along another dimension than the classes."""

    code = "LOS007"
    name = "softmax-over-batch"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the input of the loss sums to 1 along the batch, not along the classes"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("cross_entropy", "nll_loss", "kl_div"), _is_across):
            producer = call.producer
            assert producer is not None
            wrong, right = call.sums_to_one[0], _class_dim(call)
            what = "the batch" if wrong == 0 else f"dimension {wrong}"
            yield self.diagnose(
                headline=f"{producer.op} runs over {what} (dim={wrong}), the classes are in dim={right}",
                confidence="proven",
                step=call.step,
                where=producer.layer_built if producer.layer and producer.layer_built else producer.to_edit,
                label=f"dim={producer.dim if producer.dim is not None else wrong}",
                also=loss_line(call, f"`{call.function}` compares the classes of each sample"),
                culprit=Culprit(op=producer.op, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"`{call.names[0]}` has shape {shown(call.given.shape)}; in {seen(times)} it sums to 1 "
                    f"along dim={wrong} and not along dim={right}",
                    f"`{made_by(producer)}` made it; a sample's answer depends on the other samples of its batch",
                ),
                remedies=(
                    Remedy(title=f"use `dim={right}` (or `dim=-1` where the classes come last) in the {producer.op}"),
                ),
            )


def _class_dim(call: LossCall) -> int:
    return call.class_dim if call.function != "kl_div" else len(call.given.shape) - 1


def _is_across(call: LossCall) -> bool:
    right = _class_dim(call)
    softmax = call.producer is not None and call.producer.op in _SOFTMAX
    return softmax and len(call.given.shape) > 1 and bool(call.sums_to_one) and right not in call.sums_to_one
