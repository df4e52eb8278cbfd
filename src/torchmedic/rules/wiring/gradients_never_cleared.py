"""Gradients of all batches add up because nothing clears them between the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchmedic.facts import GradientCycles, LeftGradients, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed


class GradientsNeverCleared(Rule):
    """Step after step begins its backward on the gradient that the step before has used up."""

    code = "WIR014"
    name = "gradients-never-cleared"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.LOSS_NAN)
    tell_apart = "old gradients were still there when backward ran, though a step had used them"
    needs = (GradientCycles,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        parts = tuple(run.all(LeftGradients))
        yield from map(self._part, parts)
        yield from self._whole(seen for seen in run.all(GradientCycles) if seen.built not in [p.built for p in parts])

    def _part(self, seen: LeftGradients) -> Diagnosis:
        names = listed(seen.parameters, 2)
        where = seen.zero_grad or seen.backward
        grown = ""
        if seen.norm_first and seen.norm_last:
            grown = f"; the norm of the largest went from {seen.norm_first:.3g} to {seen.norm_last:.3g}"
        return self.diagnose(
            headline=f"gradients of {names} add up: `zero_grad` does not reach them",
            confidence="proven",
            step=seen.step,
            where=where,
            label=f"leaves out {names}" if seen.zero_grad else "adds to the gradients of all batches before",
            also=also(
                (seen.built, f"`{seen.optimizer}` steps on these as well"),
                (seen.backward, "adds to the gradients that are still there"),
                where=where,
            ),
            culprit=Culprit(op="zero_grad", parameter=seen.parameters[0], phase="optimizer"),
            evidence=(
                f"in {seen.cycles} steps on end backward added to what the step before had used{grown}",
                f"{counted(seen.cleared, 'other parameter')} of `{seen.optimizer}` were cleared each time",
            ),
            ruled_out=(
                RuledOut(suspect="gradient accumulation", how="the optimizer stepped on these gradients every time"),
            ),
            remedies=(Remedy(title="call `optimizer.zero_grad()` instead: it clears all that the optimizer steps on"),),
        )

    def _whole(self, every: Iterable[GradientCycles]) -> Iterator[Diagnosis]:
        for seen in every:
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
