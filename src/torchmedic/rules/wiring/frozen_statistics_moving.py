"""A part was frozen, but its BatchNorm layers train on: their running statistics drift away from its weights."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FrozenStatistics, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_BATCHES = 10
# In standard deviations: data of the kind that the layer was trained on moves its mean by a few hundredths.
_FAR = 0.5


class FrozenStatisticsMoving(Rule):
    """The statistics of a frozen layer have gone far from what its weights were trained with."""

    code = "WIR124"
    name = "frozen-statistics-moving"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the weights of a frozen part stay, and its answers change: `running_mean` moves"
    needs = (FrozenStatistics,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FrozenStatistics):
            if seen.shift < _FAR or seen.batches < _BATCHES or seen.train_called is None:
                continue
            yield self.diagnose(
                headline=f"`{seen.part}` is frozen, but its BatchNorm goes on moving: `{seen.layer}.running_mean`",
                confidence="likely",
                where=seen.train_called,
                label="puts the frozen part into training mode as well",
                culprit=Culprit(op="BatchNorm", parameter=f"{seen.layer}.running_mean", phase="forward"),
                evidence=(
                    f"all weights of `{seen.part}` have `requires_grad=False`, and its BatchNorm layers train",
                    f"`{seen.layer}.running_mean` moved by {seen.shift:.2g} standard deviations within "
                    f"{seen.batches} batches, after {seen.before} on which it had settled",
                ),
                remedies=(
                    Remedy(
                        title=f"call `{seen.part}.eval()` after every `train()`, or in a `train` of the model's own",
                        detail="`requires_grad=False` stops the optimizer; running statistics stop in evaluation mode",
                    ),
                ),
            )
