"""`log_target=True` with a target that is no logarithm."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, seen


class KlDivTargetInWrongSpace(Rule):
    """`log_target=True` says that the target of `kl_div` is a logarithm; its values are probabilities."""

    code = "LOS006"
    name = "kl-div-target-in-wrong-space"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_ZERO, Symptom.SCORE_LOW)
    tell_apart = "the target of `kl_div` is in [0, 1] and sums to 1, and `log_target=True`"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, ("kl_div",), _is_wrong):
            name = call.names[1]
            yield self.diagnose(
                headline=f"the target `{name}` of `kl_div` holds probabilities, with log_target=True",
                confidence="proven",
                step=call.step,
                where=call.where,
                label=f"`{name}` is in [{call.target.minimum:.3g}, {call.target.maximum:.3g}]",
                culprit=Culprit(op="kl_div", phase="forward", tensor=name),
                evidence=(
                    f"its rows sum to 1 in {seen(times)}",
                    "with `log_target=True` the exponential of each probability is taken as the probability",
                ),
                remedies=(
                    Remedy(title="drop `log_target=True`"),
                    Remedy(title="or make the target with `log_softmax`"),
                ),
            )


def _is_wrong(call: LossCall) -> bool:
    low, rows = call.target.minimum, call.target_rows
    sums = rows is not None and all(abs(row - 1) < 1e-2 for row in rows)
    return call.options.get("log_target") == "True" and low is not None and low >= 0 and sums
