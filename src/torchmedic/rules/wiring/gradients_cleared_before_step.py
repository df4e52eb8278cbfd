"""`zero_grad` between `backward` and `step`: the optimizer gets nothing to work with."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GradientCycles, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class GradientsClearedBeforeStep(Rule):
    """Backward filled the gradients, and they were gone when `step` came."""

    code = "WIR015"
    name = "gradients-cleared-before-step"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "the gradients were there after `backward` and empty at `step`"
    needs = (GradientCycles,)
    # Where the gradients are gone, the exam of the graph looks for a cut that is not there.
    folds = (
        "TRN",
        "detached-from-loss",
        "value-taken-out-of-graph",
        "computed-without-gradient",
        "step-function-in-graph",
    )

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GradientCycles):
            if seen.emptied < 3 or seen.emptied < 0.8 * seen.cycles:
                continue
            yield self.diagnose(
                headline=f"`zero_grad` empties the gradients before `step`, in {seen.emptied} of {seen.cycles} steps",
                confidence="proven",
                where=seen.zero_grad or seen.stepped,
                label="runs after `backward` and before `step`",
                also=also(
                    (seen.backward, "filled here"),
                    (seen.stepped, "used here, when they are gone"),
                    where=seen.zero_grad,
                ),
                culprit=Culprit(op="zero_grad", phase="optimizer"),
                evidence=(f"`{seen.optimizer}` stepped {seen.emptied} times without any gradient",),
                remedies=(Remedy(title="move `zero_grad()` before `backward()`, or after `step()`"),),
            )
