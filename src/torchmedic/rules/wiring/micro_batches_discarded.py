"""`zero_grad` in the loop over micro-batches: of all that were to be accumulated, only the last one counts."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import DiscardedGradients, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.wiring._telling import also, counted

_LEAST_CYCLES = 4
_LEAST_ALIKE = 0.6


class MicroBatchesDiscarded(Rule):
    """Several passes of the same backward before each step, and the gradients of all but the last cleared unread."""

    code = "WIR061"
    name = "micro-batches-discarded"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "each step has the same number of backward passes, and the gradients are cleared between them"
    needs = (DiscardedGradients,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(DiscardedGradients):
            regular = seen.alike >= _LEAST_ALIKE * seen.cycles and seen.cycles >= _LEAST_CYCLES
            if seen.passes < 2 or not regular or seen.cleared is None:
                continue
            lost = seen.passes - 1
            yield self.diagnose(
                headline=f"`zero_grad` throws away {lost} of every {seen.passes} micro-batches before `step`",
                confidence="proven",
                where=seen.cleared,
                mark="zero_grad",
                label=f"runs before each of the {seen.passes} backward passes of a step",
                also=also(
                    (seen.backward, f"fills the gradients {seen.passes} times per step"),
                    (seen.stepped, "applies those of the last pass only"),
                    where=seen.cleared,
                ),
                culprit=Culprit(op="zero_grad", phase="optimizer"),
                evidence=(
                    f"in {seen.alike} of the first {counted(seen.cycles, 'step')} of `{seen.optimizer}`, backward ran "
                    f"{seen.passes} times and the gradients were cleared {counted(lost, 'time')} in between",
                ),
                ruled_out=(
                    RuledOut(
                        suspect="gradients taken on purpose",
                        how="nothing read `.grad` between backward and the clearing, in "
                        f"{counted(seen.looked, 'step')} watched closely, and no hook listens to it",
                    ),
                ),
                remedies=(
                    Remedy(title="move `zero_grad()` out of the loop over micro-batches: once, right after `step()`"),
                ),
            )
