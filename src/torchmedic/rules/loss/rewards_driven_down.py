"""A policy loss without its minus: minimising it makes rewarded actions rarer."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PolicyMoved, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 3
_THROUGHOUT = 0.9


class RewardsDrivenDown(Rule):
    """The gradient by log-probabilities has the sign of the advantage in every step looked at."""

    code = "LOS091"
    name = "rewards-driven-down"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the loss falls, and the returns fall with it"
    needs = (PolicyMoved,)
    folds = ("TRN", "loss-term-without-floor")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(PolicyMoved))
        looks = {seen.step for seen in found}
        if len(looks) < _LEAST_LOOKS or any(seen.agreement < _THROUGHOUT for seen in found):
            return
        last = found[-1]
        yield self.diagnose(
            headline=f"the policy loss has the wrong sign: actions with a high `{last.weight}` are made rarer",
            confidence="likely",
            step=last.step,
            where=last.where,
            label="minimised as it is, without a minus",
            culprit=Culprit(op="mul", phase="forward", tensor=last.weight),
            evidence=(
                f"in {len(looks)} steps the gradient of the loss by the log-probabilities had the sign of "
                f"`{last.weight}`: a step lowers the probability where it is positive, and raises it where it is "
                f"negative",
                "`step` of the environment gives a reward, and no line turns its sign round",
            ),
            remedies=(Remedy(title=f"put a minus before it: `-({last.expression})`"),),
        )
