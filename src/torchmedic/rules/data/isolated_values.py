"""Values far away from all others: a slip of the decimal point, a code for missing, a broken sensor."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class IsolatedValues(DataRule):
    """Only what a wide gap separates from the rest; long tails are left alone."""

    code = "DAT105"
    name = "isolated-values"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW, Symptom.LOSS_NAN)
    tell_apart = "a few values lie at least 30 times farther from the median than all the others"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            bad = sorted((c for c in place.seen if c.outliers), key=lambda c: -_far(c))
            if not bad:
                continue
            worst = bad[0].outliers
            assert worst is not None
            name = bad[0].column
            verb = "lies" if worst.count == 1 else "lie"
            yield self.report(
                place,
                (
                    f"{many(worst.count, 'value')} of `{name}` {verb} far from all others, up to {worst.value:.4g}",
                    f"{many(worst.count, 'value')} {verb} far from all others, up to {worst.value:.4g}",
                ),
                cells=[cell for c in bad if c.outliers for cell in c.outliers.cells],
                label="far from all others",
                evidence=[_said(c) for c in bad[:6]],
                help=(
                    "look whether these are slips or codes for missing (999, -9999, 1e20), and mend or drop those rows",
                    "or scale by median and quartiles, which they cannot move: `sklearn.preprocessing.RobustScaler`",
                ),
                field=name,
                rows=sum(c.outliers.count for c in bad if c.outliers),
            )


def _far(column: TableColumn) -> float:
    return column.outliers.farthest if column.outliers else 0.0


def _said(column: TableColumn) -> str:
    far = column.outliers
    assert far is not None
    spread = f"the median absolute deviation (scaled) {far.deviation:.3g}" if far.deviation else "no spread at all"
    return f"`{column.column}`: median {far.median:.4g}, {spread}, mean {column.mean:.4g}, std {column.std:.4g}"
