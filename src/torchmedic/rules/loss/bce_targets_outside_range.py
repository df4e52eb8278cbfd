"""Binary cross-entropy of targets that are no probabilities."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, seen

_NAME = "binary_cross_entropy_with_logits"


class BceTargetsOutsideRange(Rule):
    """Targets below 0 or above 1 make the loss negative and without a floor."""

    code = "LOS011"
    name = "bce-targets-outside-range"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_NOISY)
    tell_apart = "the target of the binary cross-entropy has values outside [0, 1]"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, (_NAME,), lambda c: c.outside >= 0.01):
            name, low, high = call.names[1], call.target.minimum, call.target.maximum
            yield self.diagnose(
                headline=f"targets of `{_NAME}` are in [{low:g}, {high:g}], not in [0, 1]",
                confidence="proven",
                step=call.step,
                where=call.where,
                label=f"`{name}` holds values that are no probabilities",
                culprit=Culprit(op=_NAME, phase="forward", tensor=name),
                evidence=(
                    f"{call.outside:.0%} of `{name}` lies outside [0, 1]; so it was in {seen(times)}",
                    "for such a target the loss falls for ever as the logit grows, and goes below 0",
                ),
                remedies=(Remedy(title=_cure(name, low, high)),),
            )


def _cure(name: str, low: float | None, high: float | None) -> str:
    if low == -1 and high == 1:
        return f"map -1/1 to 0/1: `({name} + 1) / 2`"
    if low == 0 and high is not None and high > 1:
        return (
            f"divide by the largest value: `{name} / {high:g}`"
            if high > 2
            else "use `cross_entropy` for more than two classes"
        )
    if low == 1 and high == 2:
        return f"count classes from 0: `{name} - 1`"
    return f"bring `{name}` into [0, 1], or use a regression loss"
