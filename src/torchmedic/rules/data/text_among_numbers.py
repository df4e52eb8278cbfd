"""Text in a column of numbers: the whole column is read as text, or the cells become NaN."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class TextAmongNumbers(DataRule):
    """Names the column, the tokens and their lines."""

    code = "DAT104"
    name = "text-among-numbers"
    severity = "error"
    symptoms = (Symptom.CRASH, Symptom.LOSS_NAN)
    tell_apart = "a column of numbers holds cells such as `<0.5`, which no reader takes for a number"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            bad = sorted((c for c in place.seen if _odd(c)), key=lambda c: -_odd(c))
            if not bad:
                continue
            worst = bad[0]
            assert worst.texts is not None
            cells = [cell for c in bad if c.texts for cell in c.texts.cells]
            cell = "cell" if _odd(worst) == 1 else "cells"
            more = f", and {many(len(bad) - 1, 'other column')} likewise" if len(bad) > 1 else ""
            yield self.report(
                place,
                (
                    f"`{worst.column}` holds {_odd(worst):,} {cell} of text among {many(worst.finite, 'number')}{more}",
                    f"{_odd(worst):,} {cell} of text among {many(worst.finite, 'number')}{more}",
                ),
                cells=cells,
                label="no number",
                evidence=[f"in `{c.column}`: {_tokens(c)}" for c in bad[:6]],
                help=(
                    "decide what each token means: `<0.5` may become 0.25, `1,234` 1234; "
                    "`--rows bad.parquet` lists every cell",
                    f"not `pd.to_numeric(df['{worst.column}'], errors='coerce')`, which makes NaN of them in silence",
                ),
                field=worst.column,
                rows=sum(_odd(c) for c in bad),
            )


def _odd(column: TableColumn) -> int:
    return column.texts.count - column.texts.missing_words if column.texts is not None else 0


def _tokens(column: TableColumn) -> str:
    assert column.texts is not None
    shown = [
        f"`{token.replace('`', '')}` {many(count, 'time')}" for token, count in column.texts.tokens if token.strip()
    ]
    return ", ".join(shown[:6])
