"""Times with a zone among times without: they cannot be compared, and readers shift some of them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, places


class MixedTimeZones(DataRule):
    """Different offsets alone are summer and winter; only a mixture with none is ambiguous."""

    code = "DAT121"
    name = "mixed-time-zones"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "some times of a column carry a zone and others do not"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            for column in place.seen:
                if column.instants is None or not column.instants.zones:
                    continue
                (_, zoned), (_, plain) = column.instants.zones
                yield self.report(
                    place,
                    f"{zoned:,} times of `{column.column}` carry a zone, {plain:,} do not",
                    cells=column.instants.cells,
                    label="of the rarer kind",
                    evidence=["`pd.to_datetime` refuses the mixture, or with `utc=True` takes the bare ones for UTC"],
                    help=("find out which zone the bare times were taken in, and add it: `.dt.tz_localize(zone)`",),
                    field=column.column,
                    rows=min(zoned, plain),
                )
