"""A data set whose `__getitem__` writes into what it holds: every epoch reads other numbers."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RowsRewritten, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class RowsRewrittenByReading(Rule):
    """Rows that were kept at the start of a pass are found changed at the start of each following one."""

    code = "DAT062"
    name = "rows-rewritten-by-reading"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.LOSS_NOISY)
    tell_apart = "the same row of the data set holds another number in every epoch"
    needs = (RowsRewritten,)
    folds = ("TRN", "evaluated-in-another-scale")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(RowsRewritten):
            course = ", then ".join(f"{value:.4g}" for value in seen.values)
            yield self.diagnose(
                headline=f"reading a row of `{seen.dataset}` rewrites it: `{seen.attribute}` differs in every epoch",
                confidence="proven",
                where=seen.where,
                label=f"writes into `self.{seen.attribute}` itself, not into a copy",
                culprit=Culprit(phase="data", rows=seen.row),
                evidence=(
                    f"a number of row {seen.row} of `{seen.attribute}` was {course}, looked at when passes began",
                    f"{seen.changed} of {seen.watched} rows that were watched changed like that",
                ),
                remedies=(
                    Remedy(title="make a new array: `row = (row - mean) / std` in place of `-=` and `/=`"),
                    Remedy(title="or copy the row first: `.clone()` for a tensor, `.copy()` for an array"),
                ),
            )
