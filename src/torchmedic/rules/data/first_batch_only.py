"""`next(iter(loader))` in every step: each iterator starts at the beginning."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FirstBatchOnly, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class FirstBatchSeenAlone(Rule):
    """A loader in fixed order is begun anew for every step, so that all steps train on one batch."""

    code = "DAT063"
    name = "first-batch-only"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "the loader was begun as often as it was asked for a batch"
    needs = (FirstBatchOnly,)
    folds = ("TRN", "overfitted-model", "few-classes-per-batch")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FirstBatchOnly):
            yield self.diagnose(
                headline=f"all {seen.times} fetches got the same first batch of {seen.batches}",
                confidence="proven",
                where=seen.where,
                label="a new iterator for every batch: it starts at the beginning",
                also=(Also(location=seen.built, why="the loader, in fixed order"),)
                if seen.built is not None and seen.built != seen.where
                else (),
                culprit=Culprit(op="iter", phase="data", rows=seen.rows),
                evidence=(
                    f"the loader has {seen.batches} batches; it was begun {seen.times} times and asked for one batch "
                    f"each time, and the rows were the same {seen.rows} every time",
                ),
                remedies=(
                    Remedy(title="loop over the loader: `for batch in loader:`"),
                    Remedy(title="or keep the iterator, and begin it anew only when it is used up"),
                ),
            )
