"""Labels: their values and order, and columns that give them away."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.checkups.data.engine import Column, DuckTable, Table, Wanted
from torchmedic.checkups.data.guessing import Roles
from torchmedic.facts import LabelColumn, Observation, TellingColumn

_MOST_CLASSES = 1000
_IGNORED = ("-100",)
_FEW_ROWS = 100
_MOST_IN_ORDER = 1_000_000


def label_facts(table: Table, small: Table, roles: Roles, rows: int, sampled: int | None) -> Iterator[Observation]:
    """What the labels are, and which column tells them."""
    label = roles.label
    if label is None or label.family not in ("integer", "text", "bool", "float"):
        return
    counts = table.query(
        f"SELECT {label.sql}, count(*) AS n FROM {{t}} GROUP BY {label.sql} ORDER BY n, {label.sql} "
        f"LIMIT {_MOST_CLASSES + 2}"
    )
    named = [(value, int(n)) for value, n in counts if value is not None]
    missing = sum(int(n) for value, n in counts if value is None)
    if not named or len(named) > _MOST_CLASSES:
        yield from _telling_number(small, roles, label, rows)
        return
    classes = tuple((str(value), n) for value, n in named if str(value) not in _IGNORED)
    numbers = [float(value) for value, _ in named if _is_number(value) and str(value) not in _IGNORED]
    whole = len(numbers) == len(classes) and all(number == int(number) for number in numbers)
    in_order = isinstance(table, DuckTable) and rows <= _MOST_IN_ORDER
    ordered = small if sampled is None else table if in_order else None
    yield LabelColumn(
        source=table.name,
        column=label.name,
        guessed="label" in roles.guessed,
        rows=rows,
        whole=whole,
        missing=missing,
        distinct=len(classes),
        minimum=min(numbers, default=None) if whole else None,
        maximum=max(numbers, default=None) if whole else None,
        ignored=sum(n for value, n in named if str(value) in _IGNORED),
        classes=classes,
        runs=_runs(ordered, label) if ordered is not None else None,
        cells=table.cells(label, Wanted("missing"), 3) if missing else (),
    )
    if len(classes) * 10 <= rows:
        yield from _telling_class(small, roles, label, rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value == value and abs(value) < 1e15


def _runs(table: Table, label: Column) -> int:
    """How often the label changes from one row to the next, and one more."""
    twin = _twin(table, label)
    asked = (
        f"SELECT count(*) FROM (SELECT {twin.sql} AS v, lag({twin.sql}) OVER () AS before, row_number() OVER () AS r "
        "FROM {t}) WHERE r = 1 OR v IS DISTINCT FROM before"
    )
    return int(table.query(asked)[0][0])


def _twin(small: Table, column: Column) -> Column:
    return next(c for c in small.columns if c.name == column.name)


def _telling_class(small: Table, roles: Roles, label: Column, rows: int) -> Iterator[TellingColumn]:
    """Columns of few values, each of which goes with one class."""
    if rows < _FEW_ROWS:
        return
    y = _twin(small, label).sql
    total = int(small.query(f"SELECT count({y}) FROM {{t}}")[0][0])
    common = int(
        small.query(f"SELECT count(*) AS n FROM {{t}} WHERE {y} IS NOT NULL GROUP BY {y} ORDER BY n DESC LIMIT 1")[0][0]
    )
    for column in small.columns:
        if column.name == label.name or roles.of(column) in ("id", "split") or column.family in ("list", "other"):
            continue
        c = column.sql
        values = int(small.query(f"SELECT count(DISTINCT {c}) FROM {{t}}")[0][0])
        if values < 2 or values > total / 20:
            continue
        hits = small.query(
            f"SELECT sum(m) FROM (SELECT max(n) AS m FROM (SELECT {c} AS v, {y} AS y, count(*) AS n FROM {{t}} "
            f"WHERE {y} IS NOT NULL GROUP BY v, y) GROUP BY v)"
        )[0][0]
        if hits and hits / total >= 0.999 and common / total <= 0.95:
            yield _telling(small, column, label, hits / total, common / total, values, total, "value")


def _telling_number(small: Table, roles: Roles, label: Column, rows: int) -> Iterator[TellingColumn]:
    """Columns that are the label in other units."""
    if rows < _FEW_ROWS or label.family not in ("float", "integer"):
        return
    y = _twin(small, label).sql
    for column in small.columns:
        if column.family not in ("float", "integer") or column.name == label.name or roles.of(column) == "id":
            continue
        c = column.sql
        fine = f"abs(CAST({c} AS DOUBLE)) < 1e150 AND abs(CAST({y} AS DOUBLE)) < 1e150"
        asked = f"SELECT corr(CAST({c} AS DOUBLE), CAST({y} AS DOUBLE)), count(*) FROM {{t}} WHERE {fine}"
        together, total = small.query(asked)[0]
        if together is not None and abs(together) >= 0.99999 and total >= _FEW_ROWS:
            yield _telling(small, column, label, abs(together), 0.0, 0, int(total), "correlation")


def _telling(
    small: Table, column: Column, label: Column, hits: float, baseline: float, values: int, rows: int, how: str
) -> TellingColumn:
    return TellingColumn(
        source=small.name,
        column=column.name,
        label=label.name,
        hits=hits,
        baseline=baseline,
        values=values,
        rows=rows,
        how=how,
    )
