"""A loss that is not finite on one rank, while the gradients of all ranks are."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SickElsewhere
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class BadLossOnOneRank(Rule):
    """Nothing was withheld, because no rank skips alone; but the loss of this rank means nothing."""

    code = "RNK018"
    name = "bad-loss-on-one-rank"
    severity = "warning"
    symptoms = (Symptom.LOSS_NAN,)
    tell_apart = "the loss is NaN or infinite on some ranks only, and no gradient is"
    needs = (SickElsewhere,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = next((s for s in run.all(SickElsewhere) if s.loss is not None), None)
        if seen is None:
            return
        yield self.diagnose(
            headline=f"the loss of rank {run.info.rank} is {seen.loss} at step {seen.step}, its gradients are finite",
            confidence="proven",
            where=seen.where,
            label="begins at this loss",
            step=seen.step,
            culprit=Culprit(phase="forward"),
            evidence=(
                "the update was made on all ranks: a bad loss without bad gradients reaches no weight",
                "a part of the loss that carries no gradient made it so",
            ),
            remedies=(
                Remedy(
                    title="look for a term that is detached or constant: a logarithm of 0, a division by a count of 0"
                ),
            ),
        )
