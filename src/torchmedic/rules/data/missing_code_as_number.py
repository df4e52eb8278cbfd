"""A number in a file that stands for a missing value, and that every reader takes for a number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import DataSource, Run, StandIn, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share


class MissingCodeAsNumber(DataRule):
    """Names the columns in which one far-off number, such as -999, is there again and again."""

    code = "DAT139"
    name = "missing-code-as-number"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "a file holds one number such as -999 again and again, far from all others of its column"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        formats = {source.source: source.format for source in run.all(DataSource)}
        for place in places(run, TableColumn):
            bad = sorted(((c, code) for c in place.seen for code in c.stand_ins), key=lambda pair: -pair[1].count)
            if not bad:
                continue
            worst, code = bad[0]
            others = {c.column for c, _ in bad} - {worst.column}
            more = f", and in {many(len(others), 'other column')}" if others else ""
            cells = f"{code.count:,} of {many(worst.rows, 'row')}"
            yield self.report(
                place,
                (
                    f"{code.value:.7g} stands for missing in {cells} of `{worst.column}`{more}",
                    f"{code.value:.7g} stands for missing in {cells}{more}",
                ),
                confidence="likely",
                cells=[cell for _, one in bad for cell in one.cells],
                label="stands for missing",
                evidence=[_said(c, one) for c, one in bad[:8]],
                help=(
                    _read_as_missing(worst, code, formats.get(worst.source, "")),
                    "then drop these rows or fill them; `--rows bad.parquet` lists every one",
                ),
                field=worst.column,
                rows=sum(one.count for _, one in bad),
            )


def _read_as_missing(column: TableColumn, code: StandIn, kind: str) -> str:
    """Only readers of text can be told while they read."""
    if kind == "csv":
        return f"read it as missing: `pd.read_csv(…, na_values={{'{column.column}': [{code.value:.7g}]}})`"
    named = f"df['{column.column}']"
    return f"make it missing: `{named} = {named}.replace({code.value:.7g}, np.nan)`"


def _said(column: TableColumn, code: StandIn) -> str:
    others = f"all others lie from {code.low:.6g} to {code.high:.6g}"
    return f"`{column.column}`: {code.value:.7g} in {share(code.count, column.rows)} of the rows, {others}"
