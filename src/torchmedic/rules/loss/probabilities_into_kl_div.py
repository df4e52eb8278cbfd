"""`kl_div` whose first argument is a probability, not its logarithm."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, given_range, loss_line, made_by, seen


class ProbabilitiesIntoKlDiv(Rule):
    """`kl_div` expects log-probabilities as input and gets probabilities."""

    code = "LOS005"
    name = "probabilities-into-kl-div"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.SCORE_LOW)
    tell_apart = "the first argument of `kl_div` has values in [0, 1] that sum to 1"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("kl_div",), lambda c: bool(c.sums_to_one) and not c.is_log):
            producer = call.producer if call.producer and call.producer.op == "softmax" else None
            yield self.diagnose(
                headline=f"`kl_div` is given probabilities in `{call.names[0]}` where it wants their logarithms",
                confidence="proven",
                step=call.step,
                where=producer.to_edit if producer else call.where,
                mark=producer.expression if producer else "",
                label="softmax, where `kl_div` wants log_softmax",
                also=loss_line(call, "`kl_div` computes target * (log(target) - input)") if producer else (),
                culprit=Culprit(op="softmax", phase="forward", tensor=call.names[0]),
                evidence=(
                    f"in {seen(times)}, `{call.names[0]}` is in {given_range(call)} and sums to 1"
                    + (f"; `{made_by(producer)}` made it" if producer else ""),
                    "the divergence of two distributions is never negative; this number is"
                    if call.loss is not None and call.loss < 0
                    else "this number is not a divergence, and its least value is not at equal distributions",
                ),
                remedies=(Remedy(title="use `F.log_softmax(…)` for the first argument of `kl_div`"),),
            )
