"""A file sorted by label: without shuffling, batches and splits hold one class."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelColumn, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class FileSortedByLabel(DataRule):
    """A hint: a loader that shuffles makes it harmless."""

    code = "DAT116"
    name = "file-sorted-by-label"
    severity = "hint"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "all rows of a class stand together in the file"
    needs = (LabelColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, LabelColumn):
            for labels in place.seen:
                grouped = labels.runs is not None and labels.runs == labels.distinct
                if not grouped or labels.distinct < 2 or labels.rows < max(50, 10 * labels.distinct):
                    continue
                yield self.report(
                    place,
                    (
                        f"the rows are sorted by `{labels.column}`: {labels.distinct} classes, one after another",
                        "the rows are sorted by label",
                    ),
                    evidence=[
                        f"{many(labels.rows, 'row')} in {labels.runs} runs; the last tenth holds the last class only"
                    ],
                    help=(
                        "shuffle: `DataLoader(…, shuffle=True)`, and `train_test_split(…, shuffle=True)` before that",
                    ),
                    field=labels.column,
                    rows=labels.rows,
                )
