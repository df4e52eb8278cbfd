"""A softmax over a single output: 1, whatever the model says."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, loss_line, made_by, seen, shown

_FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div", "-")


class SoftmaxOfOneOutput(Rule):
    """The prediction is a softmax along a dimension of size 1."""

    code = "LOS015"
    name = "softmax-of-one-output"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the softmax before the loss runs along a dimension of size 1"
    needs = (LossCall,)
    folds = ("unreachable-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, _FUNCTIONS, _is_one):
            assert call.producer is not None
            yield self.diagnose(
                headline=f"{call.producer.op} over one output: `{call.names[0]}` is always {_value(call):g}",
                confidence="proven",
                step=call.step,
                where=call.producer.to_edit,
                label="normalises a single number",
                also=loss_line(call, "compared with the target here"),
                culprit=Culprit(op=call.producer.op, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"`{made_by(call.producer)}` made `{call.names[0]}` of shape {shown(call.given.shape)}; in "
                    f"{seen(times)} all of its values were {_value(call):g}",
                    "its gradient is 0, so that no weight before it learns",
                ),
                remedies=(
                    Remedy(title="use a sigmoid (or `BCEWithLogitsLoss` on the raw score) for one output"),
                    Remedy(title="or give the last layer two outputs and use `cross_entropy`"),
                ),
            )


def _is_one(call: LossCall) -> bool:
    producer, shape = call.producer, call.given.shape
    softmax = producer is not None and producer.op in ("softmax", "log_softmax")
    constant = call.given.minimum is not None and call.given.minimum == call.given.maximum
    return softmax and constant and _value(call) in (0.0, 1.0) and len(shape) > 0 and call.given.numel > 1


def _value(call: LossCall) -> float:
    return abs(call.given.minimum or 0.0)
