"""NaN or infinity in a column or an array, before any training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torchmedic.facts import ArraySeen, Cell, DataSource, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._keeping_out import parts_of_array, rows_of_frame, source_of, with_list
from torchmedic.rules.data._offline import DataRule, Place, many, places

_CELLS = "find out what these cells mean, then drop the rows or fill them"
_VALUES = "find out what these values mean, then drop the rows or fill them"


class NonFiniteValues(DataRule):
    """Names every column or array with such values, how many, and where the first are."""

    code = "DAT100"
    name = "non-finite-values"
    severity = "error"
    symptoms = (Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN)
    tell_apart = "the data itself holds NaN or infinity, before the script has touched it"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            bad = sorted((c for c in place.seen if c.nan or c.inf), key=lambda c: -(c.nan + c.inf))
            if bad:
                counts = [(c.column, c.nan, c.inf, c.rows) for c in bad]
                source = source_of(run, bad[0].source)
                help = (with_list(_CELLS, source), rows_of_frame(source, bad[0].column))
                cells = [cell for c in bad for cell in c.cells if cell.text]
                yield self._report(place, "other column", counts, cells, help, bad[0].column)
            for column in place.seen:
                if column.bad_lists:
                    yield self._of_lists(place, column, source_of(run, column.source))
        for arrays in places(run, ArraySeen):
            held = [a for a in arrays.seen if (a.nan or a.inf) and a.purpose != "weight"]
            if held:
                is_one = len({a.source for a in held}) == 1
                counts = [(a.name if is_one else f"{a.name} of {a.source}", a.nan, a.inf, _size(a)) for a in held]
                cells = [cell if is_one else replace(cell, file=a.source) for a in held for cell in a.cells]
                source = source_of(run, held[0].source)
                help = (with_list(_VALUES, source), parts_of_array(run, source, held[0]))
                yield self._report(arrays, "other array", counts, cells, help, held[0].name)

    def _of_lists(self, place: Place[TableColumn], column: TableColumn, source: DataSource | None) -> Diagnosis:
        count = many(column.bad_lists, "list")
        return self.report(
            place,
            f"{count} in `{column.column}` {'has' if column.bad_lists == 1 else 'have'} NaN, "
            "infinite or missing elements",
            cells=column.cells,
            label="not all of it is finite",
            evidence=[f"{many(column.bad_elements, 'element')} in {count} of {many(column.rows, 'row')}"],
            help=(
                with_list(_CELLS, source),
                "a list with `None` in it becomes an array of objects, which `torch.tensor` refuses",
            ),
            field=column.column,
            rows=column.bad_lists,
        )

    def _report(
        self,
        place: Place[Any],
        what: str,
        counts: list[tuple[str, int, int, int]],
        cells: list[Cell],
        help: tuple[str, ...],
        field: str,
    ) -> Diagnosis:
        name, nan, inf, size = counts[0]
        others = [column for column, _, _, _ in counts[1:]]
        more = f", and {many(len(others), what)}" if others else ""
        return self.report(
            place,
            (f"`{name}` holds {_kinds(nan, inf)} among {many(size, 'value')}{more}", f"{_kinds(nan, inf)} in the data"),
            cells=cells,
            label="not finite",
            evidence=[f"`{column}`: {_kinds(n, i)} of {many(s, 'value')}" for column, n, i, s in counts[1:9]],
            help=help,
            field=field,
            rows=sum(n + i for _, n, i, _ in counts),
        )


def _size(array: ArraySeen) -> int:
    size = 1
    for length in array.shape:
        size *= length
    return size


def _kinds(nan: int, inf: int) -> str:
    return " and ".join(part for part in (f"{nan:,} NaN" if nan else "", f"{inf:,} infinite" if inf else "") if part)
