"""An optimizer steps, and no gradient was ever computed for it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NeverBackward, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class NeverABackward(Rule):
    """`step` has nothing to apply: `backward` was never called, or a framework was never given a loss to call it on."""

    code = "WIR090"
    name = "never-a-backward"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "in the whole run no gradient was computed, although an optimizer stepped"
    needs = (NeverBackward,)
    folds = ("TRN", "LOS")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(NeverBackward):
            forgets = seen.training_step is not None and not seen.returns_value
            where = seen.training_step or seen.stepped or seen.built
            said = "`training_step` returns no loss" if forgets else "`backward` never ran"
            yield self.diagnose(
                headline=f"{said}: {seen.steps} steps of `{seen.optimizer}` had no gradient to apply",
                confidence="proven",
                step=seen.step,
                where=where,
                label="returns nothing" if forgets else "nothing to apply here",
                also=also((seen.built, "the optimizer"), where=where),
                culprit=Culprit(op="backward", phase="backward"),
                evidence=("at every step the gradient of every parameter was None: no weight has moved",),
                remedies=(
                    Remedy(title="end `training_step` with `return loss`: without it the framework skips `backward`")
                    if seen.training_step is not None
                    else Remedy(title="call `loss.backward()` before `optimizer.step()`"),
                ),
            )
