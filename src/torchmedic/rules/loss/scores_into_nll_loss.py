"""`nll_loss` of raw scores: a loss without a floor, lowered by making scores larger."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, seen

_LEARNED = ("linear", "matmul", "mm", "addmm", "conv1d", "conv2d", "conv3d", "einsum", "add", "bmm")


class ScoresIntoNllLoss(Rule):
    """`nll_loss` is given the output of a layer, with no `log_softmax` between."""

    code = "LOS004"
    name = "scores-into-nll-loss"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_NOISY)
    tell_apart = "the loss falls without end below 0, and its input has positive values"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("nll_loss",), _is_raw):
            yield self.diagnose(
                headline="`nll_loss` is given raw scores, so the loss has no lower bound",
                confidence="proven",
                step=call.step,
                where=call.where,
                label="no `log_softmax` before this loss",
                culprit=Culprit(op="nll_loss", phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, `{call.names[0]}` is in {given_range(call)} and its rows are no "
                    f"logarithms of probabilities",
                    f"`nll_loss` is minus the score of the right class: {_loss(call)}",
                ),
                remedies=(
                    Remedy(title="use `cross_entropy` (`nn.CrossEntropyLoss`) instead of `nll_loss`"),
                    Remedy(title="or put `log_softmax(…, dim=1)` before it"),
                ),
            )


def _is_raw(call: LossCall) -> bool:
    positive = call.given.maximum is not None and call.given.maximum > 1e-3
    return positive and not call.sums_to_one and call.producer is not None and call.producer.op in _LEARNED


def _loss(call: LossCall) -> str:
    return f"{call.loss:.3f} at step {call.step}" if call.loss is not None else "it falls by making scores larger"
