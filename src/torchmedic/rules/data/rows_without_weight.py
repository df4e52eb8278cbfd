"""A weighted sampler with one weight per class: all rows but the first few are never drawn."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RowsWithoutWeight, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class RowsNeverDrawn(Rule):
    """The sampler draws numbers below the count of its weights, and the dataset has more rows than that."""

    code = "DAT060"
    name = "rows-without-weight"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "the weights of a `WeightedRandomSampler` are as many as the classes, not as the rows"
    needs = (RowsWithoutWeight,)
    folds = ("few-classes-per-batch", "overfitted-model")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(RowsWithoutWeight):
            drawn = "row 0" if seen.weights == 1 else f"rows 0 to {seen.weights - 1}"
            yield self.diagnose(
                headline=f"`WeightedRandomSampler` has {seen.weights} weights for {seen.rows} rows of the dataset",
                confidence="proven",
                where=seen.where,
                label=f"only {drawn} can be drawn",
                also=(Also(location=seen.loader, why=f"this loader has {seen.rows} rows"),)
                if seen.loader is not None and seen.loader != seen.where
                else (),
                culprit=Culprit(op="WeightedRandomSampler", phase="data", rows=seen.rows - seen.weights),
                evidence=(
                    f"a weight belongs to a row: {seen.draws} draws per epoch come from {seen.weights} rows, and "
                    f"{seen.rows - seen.weights} rows are never seen",
                ),
                remedies=(
                    Remedy(title="give one weight per row: `class_weights[labels]`"),
                    Remedy(title="or weigh the classes in the loss: `CrossEntropyLoss(weight=class_weights)`"),
                ),
            )
