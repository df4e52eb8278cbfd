"""Scores made shares of their sum where each is the only one: every weight is 1, and the scores never learn."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ShareOfOne
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 3


class ShareOfOneScore(Rule):
    """The dimension of the sum holds one number, in every division looked at."""

    code = "WIR210"
    name = "share-of-one-score"
    symptoms = (Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "weights are divided by their own sum, over a dimension of size 1: each is divided by itself"
    needs = (ShareOfOne,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ShareOfOne):
            remedies = _ways_out(seen)
            if seen.looks < _LEAST_LOOKS or not remedies:
                continue
            picked = f", picked from {seen.picked_from}" if seen.picked_from else ""
            yield self.diagnose(
                headline=f"divided by their own `{seen.total}` over a dimension of size 1: every weight is 1",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.expression,
                label="each number is divided by itself",
                culprit=Culprit(op="div", phase="forward"),
                evidence=(
                    f"the weights are {list(seen.shape)}: each total is made of one number{picked}, in all "
                    f"{seen.looks} divisions looked at",
                    "the derivative is 0: the layers that compute the scores learn nothing this way",
                ),
                remedies=remedies,
            )


def _ways_out(seen: ShareOfOne) -> tuple[Remedy, ...]:
    """None where nothing else could be summed: the number of items may be 1 for now."""
    if seen.picked_from:
        return (
            Remedy(title="leave the division out where a single one is picked: its score is the weight then"),
            Remedy(title="or pick two and more, which share the weight"),
        )
    largest = max(range(1, len(seen.shape)), key=lambda dim: seen.shape[dim])
    if seen.shape[largest] < 2:
        return ()
    return (Remedy(title=f"sum over what is to be weighed: `dim={largest}`, of {seen.shape[largest]}"),)
