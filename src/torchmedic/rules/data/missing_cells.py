"""Empty cells in columns of numbers: most readers make NaN of them without a word."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Cell, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, listed, many, places, share

_FEWEST = 5


class MissingCells(DataRule):
    """Counts empty cells and words such as `NA`; a missing label is an error."""

    code = "DAT101"
    name = "missing-cells"
    symptoms = (Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN, Symptom.SCORE_LOW)
    tell_apart = "cells are empty, or say `NA` or the like, in a column of numbers"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            yield from self._empty(place)
            bad = sorted((c for c in place.seen if _missing(c)), key=lambda c: (c.role != "label", -_missing(c)))
            if not bad:
                continue
            worst, label = bad[0], bad[0].role == "label"
            more = f", and in {many(len(bad) - 1, 'other column')}" if len(bad) > 1 else ""
            word = " (the label)" if label else ""
            missing = f"{_missing(worst):,} of {many(worst.rows, 'row')}"
            yield self.report(
                place,
                (f"`{worst.column}`{word} is missing in {missing}{more}", f"cells are missing in {missing}{more}"),
                severity="error" if label else self.severity,
                cells=[cell for c in bad for cell in _cells(c)],
                label="missing",
                evidence=[
                    f"`{c.column}`: {_missing(c):,} missing, {share(_missing(c), c.rows)} of its rows" for c in bad[1:9]
                ],
                help=(
                    f"drop the rows: `df.dropna(subset=['{worst.column}'])`; `--rows bad.parquet` lists every one",
                    "or fill them, and tell the network in a second column which were missing",
                ),
                field=worst.column,
                rows=sum(_missing(c) for c in bad),
            )

    def _empty(self, place: Place[TableColumn]) -> Iterator[Diagnosis]:
        """Columns in which no row has anything."""
        empty = [c for c in place.seen if c.nulls == c.rows >= _FEWEST and c.role != "label"]
        if empty:
            first = empty[0]
            more = f", and {many(len(empty) - 1, 'other column')} likewise" if len(empty) > 1 else ""
            yield self.report(
                place,
                (f"`{first.column}` is empty in all {many(first.rows, 'row')}{more}", f"a column is empty{more}"),
                evidence=[
                    *([f"empty: {listed([c.column for c in empty], 8)}"] if len(empty) > 1 else []),
                    "`df.dropna()` would leave no row, and as numbers all of it is NaN",
                ],
                help=(f"drop it: `df.drop(columns=['{first.column}'])`, or find out why nothing was written",),
                field=first.column,
                rows=first.rows,
            )


def _missing(column: TableColumn) -> int:
    """Empty cells and words for nothing; a column that is nearly empty was never meant to be read as it is."""
    if column.family != "number" and column.role != "label":
        return 0
    words = column.texts.missing_words if column.texts is not None else 0
    missing = column.nulls + words
    return missing if missing < 0.95 * column.rows else 0


def _cells(column: TableColumn) -> list[Cell]:
    texts = column.texts
    words = [cell for cell in texts.cells if cell.text in texts.missing_tokens] if texts is not None else []
    return [cell for cell in column.cells if not cell.text] + words[:2]
