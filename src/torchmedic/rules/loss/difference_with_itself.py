"""Two tensors that were meant to differ are the same computation: their difference is 0 and so is its gradient."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EqualOperands, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver

_LEAST_LOOKS = 3


class DifferenceWithItself(Rule):
    """Both sides were computed by the same weights from the same data, so that gradients cancel."""

    code = "LOS062"
    name = "difference-with-itself"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the two sides of a difference are equal to the last bit in every step"
    needs = (EqualOperands,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(EqualOperands):
            if seen.equal < seen.looks or seen.looks < _LEAST_LOOKS:
                continue
            first, second = seen.names
            where = seen.second_made or seen.where
            yield self.diagnose(
                headline=f"`{first}` and `{second}` are equal in every step: `{seen.expression}` is always 0",
                confidence="proven",
                step=seen.step,
                where=where,
                label=f"`{second}` is computed by the same weights",
                also=(Also(location=seen.where, why="the difference is taken here"),)
                if seen.where is not None and seen.where != where
                else (),
                culprit=Culprit(op="sub", phase="forward", tensor=second),
                evidence=(
                    f"in all {seen.looks} steps looked at, the two tensors {list(seen.shape)} had the same bits",
                    "both have a gradient, and the one takes away what the other adds: nothing is learned from this",
                ),
                remedies=(
                    Remedy(title=f"compute `{second}` once before the updates, under `torch.no_grad()`, and keep it"),
                    Remedy(title=f"or use `{receiver(second)}.detach()` where only the value is meant"),
                ),
            )
