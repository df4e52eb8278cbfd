"""A column that counts the rows: as a feature it lets a model learn the order of the file."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class RowNumberAsFeature(DataRule):
    """A hint: the column may well be dropped by the script."""

    code = "DAT117"
    name = "row-number-as-feature"
    severity = "hint"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.SCORE_LOW)
    tell_apart = "a column of whole numbers has every value of a range once, and is not named as an id"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            for column in place.seen:
                if column.rising and not column.role and not column.column.lower().endswith("id"):
                    yield self.report(
                        place,
                        f"`{column.column}` counts the rows from {column.minimum:.0f} to {column.maximum:.0f}",
                        evidence=[
                            f"{many(column.rows, 'row')}, each number once: an index that was saved with the data"
                        ],
                        help=(
                            f"leave it out of the features: `df.drop(columns=['{column.column}'])`",
                            "and save without it: `df.to_csv(path, index=False)`",
                        ),
                        field=column.column,
                        rows=column.rows,
                    )
                    break
