"""A column of one value: nothing to learn from, and a zero to divide by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from torchmedic.facts import ArraySeen, DataSource, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places

_MANY_ALIKE = 10
_NO_SPREAD = "its standard deviation is 0: `(x - mean) / std` is NaN, `(x - min) / (max - min)` too"


class ConstantColumn(DataRule):
    """Names the columns and their value; a hint where they hold text.

    Zeros among many columns of one kind (pixels, counts) are no news.
    """

    code = "DAT103"
    name = "constant-column"
    symptoms = (Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "a column holds the same value in every row"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        filters = {source.source: source.where_clause for source in run.all(DataSource)}
        for place in places(run, TableColumn):
            stems = Counter(_stem(c.column) for c in place.seen)
            flat = [c for c in place.seen if c.constant is not None and c.role not in ("split", "label")]
            flat = [c for c in flat if not _is_named(c.column, filters.get(c.source, ""))]
            flat = [c for c in flat if not (c.constant == "0" and stems[_stem(c.column)] >= _MANY_ALIKE)]
            if flat:
                # Nobody divides by the spread of a text.
                flat.sort(key=lambda c: c.family != "number")
                first, numbers = flat[0], flat[0].family == "number"
                more = f", and {many(len(flat) - 1, 'other column')} likewise" if len(flat) > 1 else ""
                yield self.report(
                    place,
                    (
                        f"`{first.column}` is {first.constant} in all {many(first.rows, 'row')}{more}",
                        f"a column is constant in all {many(first.rows, 'row')}{more}",
                    ),
                    severity="warning" if numbers else "hint",
                    evidence=[
                        *([f"constant: {listed([c.column for c in flat], 8)}"] if len(flat) > 1 else []),
                        _NO_SPREAD if numbers else "what is the same in every row tells no two rows apart",
                    ],
                    help=(
                        f"drop it: `df.drop(columns=['{first.column}'])`",
                        *(["or set a divisor of 0 to 1 before dividing"] if numbers else []),
                    ),
                    field=first.column,
                    rows=first.rows,
                )
        yield from self._arrays(run)

    def _arrays(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ArraySeen):
            for array in place.seen:
                if array.flat_columns and array.shape[0] >= 20 and 2 * len(array.flat_columns) < array.shape[1] < 64:
                    shown = ", ".join(map(str, array.flat_columns[:6]))
                    columns = "column" if len(array.flat_columns) == 1 else "columns"
                    yield self.report(
                        place,
                        f"`{array.name}` has {many(len(array.flat_columns), 'constant column')}: {shown}",
                        evidence=[
                            f"{columns} {shown} of {array.shape[1]}, the same value in all {array.shape[0]:,} rows"
                        ],
                        help=("drop them, or set a standard deviation of 0 to 1 before dividing",),
                        field=f"{array.name}[:, {array.flat_columns[0]}]",
                        rows=array.shape[0],
                    )


def _is_named(column: str, condition: str) -> bool:
    """Whether a filter speaks of a column: that it is constant then is what was asked for."""
    spoken = re.sub(r"'(?:[^']|'')*'", "", condition)
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", spoken, re.IGNORECASE) is not None


def _stem(name: str) -> str:
    return re.sub(r"[\d_]+", "#", name)
