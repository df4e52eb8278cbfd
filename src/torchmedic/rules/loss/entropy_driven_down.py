"""An entropy bonus with the wrong sign: the policy is paid for being sure, and stops trying things out."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EntropyMoved, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_LOOKS = 3
_COLLAPSED = 0.3


class EntropyDrivenDown(Rule):
    """The gradient by the entropy of a policy is positive in every step looked at, and the entropy collapses."""

    code = "LOS102"
    name = "entropy-driven-down"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the entropy of the policy is a part of the loss and falls to nothing; the returns stay low"
    needs = (EntropyMoved,)
    folds = ("TRN", "loss-term-without-floor")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(EntropyMoved))
        first, last = found[0], found[-1]
        looks = len({seen.step for seen in found})
        is_low = 0 <= last.entropy <= _COLLAPSED * first.entropy
        if looks < _LEAST_LOOKS or any(seen.least <= 0 for seen in found) or not is_low:
            return
        yield self.diagnose(
            headline=f"the loss drives the entropy of the policy down, from {first.entropy:.3g} to {last.entropy:.2g}",
            confidence="likely",
            step=last.step,
            where=last.where,
            label="takes it off, times a negative number" if last.is_taken_off else "adds the entropy to the loss",
            also=also((last.made, "the entropy"), where=last.where),
            culprit=Culprit(op="add", phase="forward", tensor=last.made_text),
            evidence=(
                f"in {looks} steps the gradient of the loss by `{last.made_text}` was positive: a step lowers the "
                f"entropy",
                "what a loss adds is made small: a bonus for trying things out is taken off it",
            ),
            remedies=(
                Remedy(title="make the coefficient positive")
                if last.is_taken_off
                else Remedy(title="take the entropy off the loss: `- coefficient * entropy`"),
            ),
        )
