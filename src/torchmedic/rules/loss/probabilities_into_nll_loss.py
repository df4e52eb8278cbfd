"""`nll_loss` without a logarithm before it: the loss is minus a mean probability."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, loss_line, made_by, over_classes, seen


class ProbabilitiesIntoNllLoss(Rule):
    """`nll_loss` is given probabilities where it wants their logarithms."""

    code = "LOS003"
    name = "probabilities-into-nll-loss"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the loss is between -1 and 0, and rows of its input sum to 1"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("nll_loss",), lambda c: over_classes(c) and not c.is_log):
            producer = call.producer if call.producer and call.producer.op == "softmax" else None
            value = f": it is {call.loss:.3f}, never below -1" if call.loss is not None else ""
            yield self.diagnose(
                headline=f"`nll_loss` is given probabilities, not their logarithms{value}",
                confidence="proven",
                step=call.step,
                where=producer.to_edit if producer else call.where,
                mark=producer.expression if producer else "",
                label="softmax, where `nll_loss` wants log_softmax",
                also=loss_line(call, f"`nll_loss` of `{call.names[0]}` takes no logarithm itself") if producer else (),
                culprit=Culprit(op="softmax", phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, every row of `{call.names[0]}` is in {given_range(call)} and sums "
                    f"to 1" + (f"; `{made_by(producer)}` made it" if producer else ""),
                    "minus the mean probability hardly punishes a confident mistake; its gradient vanishes there",
                ),
                remedies=(
                    Remedy(title="use `log_softmax` instead of `softmax`"),
                    Remedy(title="or return raw scores and use `cross_entropy` instead of `nll_loss`"),
                ),
            )
