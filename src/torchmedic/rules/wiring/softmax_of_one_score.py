"""A softmax over a dimension of size 1: every weight is 1, and what computes the scores never learns."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SoftmaxOfOne
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 3


class SoftmaxOfOneScore(Rule):
    """The dimension that the softmax runs over holds one score, in every step looked at."""

    code = "WIR073"
    name = "softmax-of-one-score"
    symptoms = (Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "the softmax gives exactly 1 everywhere, and its gradient is exactly 0"
    needs = (SoftmaxOfOne,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SoftmaxOfOne):
            remedy = _remedy(seen)
            if seen.looks < _LEAST_LOOKS or remedy is None:
                continue
            yield self.diagnose(
                headline=f"`softmax` over dimension {seen.dim}, which has size 1: every weight is 1",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.expression,
                label="a single score is always sure of itself",
                culprit=Culprit(op="softmax", phase="forward"),
                evidence=(
                    f"the scores are {list(seen.shape)}, so that each softmax sees one number, in all {seen.looks} "
                    f"steps looked at",
                    "its derivative is exactly 0: the layers that compute the scores get no gradient",
                ),
                remedies=(remedy,),
            )


def _remedy(seen: SoftmaxOfOne) -> Remedy | None:
    """What is to be weighed; none where a sample has nothing else, and the number of its items is 1 for now."""
    if seen.picked_from:
        return Remedy(title=f"take the softmax over all {seen.picked_from} scores, before one of them is picked")
    largest = max(range(1, len(seen.shape)), key=lambda dim: seen.shape[dim])
    if seen.shape[largest] > 1:
        return Remedy(title=f"take the softmax over what is to be weighed: `dim={largest}`, of {seen.shape[largest]}")
    each, rest = divmod(seen.shape[0], seen.samples) if seen.samples else (0, 0)
    if each < 2 or rest:
        return None
    return Remedy(
        title=f"give each of the {seen.samples} samples an axis for its {each} scores, and take the softmax over it"
    )
