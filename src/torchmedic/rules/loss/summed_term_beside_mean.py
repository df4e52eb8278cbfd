"""One term of the loss is summed over the batch and another is its mean: the sum drowns the mean."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SumBesideMean
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 4
_LEAST_RATIO = 30.0
_STOOD = 0.9
_FELL = 0.25


class SummedTermBesideMean(Rule):
    """A reconstruction that is averaged beside a KL term that is summed: the model learns the second one alone."""

    code = "LOS100"
    name = "summed-term-beside-mean"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "one term falls to nothing, the other stays at what an answer that never changes would cost"
    needs = (SumBesideMean,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SumBesideMean):
            if _is_drowned(seen):
                yield self._diagnosis(seen)

    def _diagnosis(self, seen: SumBesideMean) -> Diagnosis:
        sizes = " x ".join(str(n) for n in seen.shape)
        of_mean = " x ".join(str(n) for n in seen.mean_shape)
        return self.diagnose(
            headline=f"an element of the sum weighs {seen.ratio:,.0f} times as much in the loss as one of the mean",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label=f"summed over the batch, {sizes} elements",
            also=(Also(location=seen.mean_at, why=f"`{seen.mean_expression}`: the mean of {of_mean} elements"),),
            culprit=Culprit(op="sum", phase="forward"),
            evidence=(
                f"the size of the sum fell from {max(map(abs, seen.sums)):.3g} to {abs(seen.sums[-1]):.3g}",
                f"the mean is {seen.means[-1]:.3g}; the best answer that never changes would have "
                f"{seen.baselines[-1]:.3g}",
            ),
            remedies=(
                Remedy(
                    title="reduce both terms alike: sum each over its features, then take the mean over the batch",
                    detail="`.sum(dim=1).mean()`",
                ),
            ),
        )


def _is_drowned(seen: SumBesideMean) -> bool:
    """The sum was driven to nothing, and what is averaged learned nothing meanwhile."""
    if len(seen.sums) < _LEAST_LOOKS or seen.ratio < _LEAST_RATIO:
        return False
    fell = abs(seen.sums[-1]) <= _FELL * max(abs(value) for value in seen.sums)
    return fell and seen.means[-1] >= _STOOD * seen.baselines[-1]
