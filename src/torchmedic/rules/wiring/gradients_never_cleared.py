"""Gradients of all batches add up because nothing clears them between the steps."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GradientCycles, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.wiring._telling import also


class GradientsNeverCleared(Rule):
    """Step after step begins its backward on the gradient that the step before has used up."""

    code = "WIR014"
    name = "gradients-never-cleared"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.LOSS_NAN)
    tell_apart = "old gradients were still there when backward ran, though a step had used them"
    needs = (GradientCycles,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GradientCycles):
            if seen.longest_stale < 3 or seen.stale < 0.5 * (seen.cycles - 1):
                continue
            where = seen.zero_grad if seen.cleared else seen.backward
            label = "called too rarely" if seen.cleared else "adds to the gradients of all batches before"
            grown = ""
            if seen.norm_first and seen.norm_last:
                grown = f"; their norm went from {seen.norm_first:.3g} to {seen.norm_last:.3g}"
            yield self.diagnose(
                headline=f"`{seen.optimizer}` steps with gradients that are never cleared: `zero_grad` is missing"
                if not seen.cleared
                else f"gradients add up over batches: `zero_grad` ran {seen.cleared} times in {seen.cycles} steps",
                confidence="proven",
                where=where,
                label=label,
                also=also(
                    (seen.backward, "adds to the gradients that are still there"),
                    (seen.built, "the optimizer whose gradients these are"),
                    where=where,
                )[:2],
                culprit=Culprit(op="zero_grad", phase="optimizer"),
                evidence=(
                    f"in {seen.stale} of the first {seen.cycles} steps, backward added to the gradients of the step "
                    f"before{grown}",
                ),
                ruled_out=(
                    RuledOut(
                        suspect="gradient accumulation",
                        how="`step` ran after every backward that added to them, and nothing was cleared after it",
                    ),
                ),
                remedies=(Remedy(title="call `optimizer.zero_grad()` once per step, before `backward()`"),),
            )
