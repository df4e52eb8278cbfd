"""Clipping that comes too late: the step has been made, and the gradients are computed anew before the next one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ClippingSeen, Run, SickStep
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._explosions import OF_EXPLOSIONS, grew_in_training

_LEAST_WASTED = 2


class ClippedAfterStep(Rule):
    """Every call that was followed came between a step and the next backward."""

    code = "TRN044"
    name = "clipped-after-step"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN)
    tell_apart = "`clip_grad_norm_` is called after `step()`, and what it clipped is never stepped with"
    needs = (ClippingSeen,)
    folds = ("exploding-weights",)

    def folds_in(self, run: Run) -> tuple[str, ...]:
        return OF_EXPLOSIONS if grew_in_training(run) else self.folds

    def check(self, run: Run) -> Iterator[Diagnosis]:
        # What explodes for want of clipping may not come to a third step.
        least = 1 if run.first(SickStep) is not None else _LEAST_WASTED
        for seen in run.all(ClippingSeen):
            # Of the first call and of the last one it is not known what came before and after.
            if seen.wasted < max(least, len(seen.norms) - 2) or max(seen.norms) <= seen.limit:
                continue
            yield self.diagnose(
                headline=f"`{seen.function}` comes after `step()`: no step is made with what it clipped",
                confidence="proven",
                severity="error" if grew_in_training(run) else self.severity,
                step=seen.step,
                where=seen.where,
                label="too late",
                also=(Also(location=seen.stepped, why="the step is made here, with gradients as they are"),)
                if seen.stepped is not None
                else (),
                culprit=Culprit(op=seen.function, phase="optimizer"),
                evidence=(
                    f"in all {seen.wasted} cycles that were followed, the gradients were computed anew after it and "
                    f"before the next step"
                    if seen.wasted > 1
                    else "the gradients were computed anew after it and before the next step",
                    f"the norms that it found went up to {max(seen.norms):.3g}, the limit is {seen.limit:g}",
                ),
                remedies=(Remedy(title=f"call `{seen.function}` between `backward()` and `step()`"),),
            )
