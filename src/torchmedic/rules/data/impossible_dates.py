"""Days that no calendar has."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class ImpossibleDates(DataRule):
    """30 February, month 13, and the like."""

    code = "DAT122"
    name = "impossible-dates"
    symptoms = (Symptom.CRASH, Symptom.LOSS_NAN)
    tell_apart = "cells have the form of a date, and no such day exists"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            for column in place.seen:
                if column.instants is None or not column.instants.impossible:
                    continue
                count = column.instants.impossible
                names = "names a day" if count == 1 else "name days"
                yield self.report(
                    place,
                    f"{many(count, 'cell')} of `{column.column}` {names} that no calendar has",
                    cells=column.instants.cells,
                    label="no such day",
                    evidence=["`pd.to_datetime` raises there, or makes NaT of them with `errors='coerce'`"],
                    help=("ask the source: day and month may be swapped, or the cell stands for an unknown day",),
                    field=column.column,
                    rows=count,
                )
