"""The check-up of one table: statistics of every column, then closer looks where they promise something."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torchmedic.checkups.data import closer
from torchmedic.checkups.data.codes import stand_ins
from torchmedic.checkups.data.dressed import dressed_numbers
from torchmedic.checkups.data.engine import Column, Table, Wanted
from torchmedic.checkups.data.guessing import Roles, roles_of, scaled_by
from torchmedic.checkups.data.labels import label_facts
from torchmedic.checkups.data.options import DataError, Options, Progress
from torchmedic.checkups.data.statistics import (
    MOST_GROUPS,
    Statistics,
    Summary,
    all_but_one,
    flat_groups,
    is_attribute,
    statistics,
)
from torchmedic.checkups.data.twins import repeats_in, shared_within
from torchmedic.checkups.data.units import two_scales
from torchmedic.facts import Cell, ColumnHistogram, Observation, SpreadByGroup, StandIn, TableColumn

_FLOAT32_WHOLE = 1 << 24
_DAYS = 7
_CLOSER_COLUMNS = 2000
_DRAWN_COLUMNS = 300


@dataclass
class Looked:
    """A table after the statistics pass; later looks need its roles and numbers."""

    table: Table
    roles: Roles
    numbers: Statistics
    small: Table | None = None
    sampled: int | None = None


def first_look(table: Table, options: Options, progress: Progress) -> Looked:
    """The statistics pass."""
    roles = roles_of(table, options)
    with progress.stage(f"statistics of {table.name}"):
        keys = [key for key in roles.groups if _group_count(table, key) <= MOST_GROUPS] if roles.values else []
        numbers = statistics(table, keys, roles.values)
    return Looked(table, roles, numbers)


def _group_count(table: Table, key: Column) -> int:
    """About how many groups there are: a million patients are no groups to hold in memory."""
    if table.reads_once:
        return 0
    return int(table.query(f"SELECT approx_count_distinct({key.sql}) FROM {{t}}")[0][0])


def table_facts(looked: Looked, options: Options, progress: Progress) -> Iterator[Observation]:
    """Everything seen of a table, the cheap things first."""
    yield from _spreads(looked, options)
    if not looked.numbers.rows:
        return
    with progress.stage(f"a closer look at {looked.table.name}"):
        looked.small, looked.sampled = looked.table.sample()
        _refuse_no_time(looked)
        yield from _columns(looked)
    with progress.stage(f"labels of {looked.table.name}"):
        yield from label_facts(looked.table, looked.small, looked.roles, looked.numbers.rows, looked.sampled)
    with progress.stage(f"repeated rows in {looked.table.name}"):
        yield from repeats_in(looked.table, looked.small, looked.roles, looked.numbers.rows)
    if looked.roles.split is not None:
        with progress.stage(f"what the parts of {looked.table.name} share"):
            yield from shared_within(looked.table, looked.small, looked.roles)


def _refuse_no_time(looked: Looked) -> None:
    """What the user took for times and is none: a comparison by it would say nothing, without a word."""
    column, small = looked.roles.time, looked.small
    if column is None or small is None or "time" in looked.roles.guessed:
        return
    c = column.sql
    digits = f"SELECT count(DISTINCT {c}), count(CASE WHEN regexp_matches({c}, '[0-9]') THEN 1 END) FROM {{t}}"
    kinds, numbered = small.query(digits)[0] if column.family == "text" else (0, 0)
    # Names of days are times as well.
    if column.family in ("bool", "list", "other") or (0 < kinds < _DAYS and not numbered):
        raise DataError(f"--time {column.name}: its values are no times")


def _spreads(looked: Looked, options: Options) -> Iterator[SpreadByGroup]:
    columns = looked.table.columns if looked.table.reads_once else looked.roles.values
    for key, groups in looked.numbers.groups.items():
        for column in looked.roles.by_key.get(key, looked.roles.values):
            seen = scaled_by(options, key, column.name)
            at = columns.index(column)
            constant, near, single = flat_groups(groups, at)
            yield SpreadByGroup(
                source=looked.table.name,
                group=key,
                column=column.name,
                groups=len(groups),
                guessed="group" in looked.roles.guessed,
                is_attribute=is_attribute(groups, at),
                given=bool(options.group_by),
                constant=tuple(constant),
                near=tuple(near),
                but_one=tuple(all_but_one(groups, at)),
                single=single,
                rows=sum(group.rows for group in (*constant, *near)),
                asked=seen.where if seen is not None and not options.group_by else None,
            )


@dataclass
class _Closely:
    """What was seen of all columns at once: ends and middles, numbers that stand for missing, texts that are one."""

    middles: dict[str, tuple[float, ...]]
    codes: dict[str, tuple[StandIn, ...]]
    texts: dict[str, str]


def _columns(looked: Looked) -> Iterator[Observation]:
    small = looked.small
    assert small is not None
    by_name = {column.name: column for column in small.columns}
    closely = _all_closely(looked, small, by_name)
    ends = dict(list((_ends_of_keys(looked) | closely.middles).items())[:_DRAWN_COLUMNS])
    for summary in looked.numbers.columns:
        name = summary.column.name
        yield _column(looked, small, by_name[name], summary, closely)
        if name in ends and (drawn := closer.histogram(small, by_name[name], ends[name])) is not None:
            yield ColumnHistogram(source=looked.table.name, column=name, histogram=drawn)


def _all_closely(looked: Looked, small: Table, by_name: dict[str, Column]) -> _Closely:
    rows = looked.numbers.rows
    # The spread of an id or a key says nothing.
    numeric = [s for s in looked.numbers.columns if _is_numeric(s) and looked.roles.of(s.column) not in ("id", "group")]
    numeric = [] if rows < closer.FEWEST_ROWS else numeric[:_CLOSER_COLUMNS]
    share = (looked.sampled or rows) / rows
    middles = closer.middles(small, {by_name[s.column.name]: share * _finite_count(s) for s in numeric})
    plain = [s for s in numeric if s.column.name in middles and not looked.roles.of(s.column)]
    spread = [by_name[s.column.name] for s in plain if s.minimum < s.maximum]
    full = [s.column for s in looked.numbers.columns if s.column.family == "text" and 1 < s.present == rows]
    return _Closely(
        middles=middles,
        codes=stand_ins(looked.table, small, spread, middles),
        texts=closer.single_texts(looked.table, small, full, looked.sampled is not None),
    )


def _ends_of_keys(looked: Looked) -> dict[str, tuple[float, ...]]:
    """Smallest and largest key, between which its histogram is drawn."""
    keys = [s for s in looked.numbers.columns if _is_numeric(s) and looked.roles.of(s.column) == "group"]
    finite = [s for s in keys[:_CLOSER_COLUMNS] if s.minimum is not None and looked.numbers.rows >= closer.FEWEST_ROWS]
    return {s.column.name: (float(s.minimum), 0.0, float(s.maximum), 0.0) for s in finite}


def _finite_count(summary: Summary) -> int:
    return _non_finite(summary, numeric=True)[2]


def _is_numeric(summary: Summary) -> bool:
    return summary.column.family in ("float", "integer") and bool(summary.present)


def _column(
    looked: Looked,
    small: Table,
    twin: Column,
    summary: Summary,
    known: _Closely,
) -> TableColumn:
    table, column, rows = looked.table, summary.column, looked.numbers.rows
    role = looked.roles.of(column)
    numeric = _is_numeric(summary)
    closely: dict[str, Any] = {}
    codes = known.codes.get(column.name, ())
    nan, inf, finite = _non_finite(summary, numeric)
    nulls = rows - int((summary.written if column.raw else summary.present) or 0)
    if numeric and not role and not codes and column.name in known.middles and summary.minimum < summary.maximum:
        ends = (float(summary.minimum), float(summary.maximum))
        closely["outliers"] = closer.outliers(table, small, column, known.middles[column.name], ends)
        if closely["outliers"] is None and column.family != "integer":
            closely["two_scales"] = two_scales(small, twin)
    if column.raw:
        closely["texts"] = closer.texts_of(table, column, int(summary.written) - int(summary.present))
    if column.family == "text":
        closely["instants"] = closer.instants(table, small, column, twin)
        closely["dressed"] = dressed_numbers(small, twin) if not role else None
    if column.family == "list" and summary.present:
        closely["lengths"] = closer.lengths(table, column, summary.minimum, summary.maximum)
        closely |= {"bad_lists": int(summary.bad_lists or 0), "bad_elements": int(summary.bad_elements or 0)}
    if column.family == "integer" and not role and not summary.present < rows:
        closely["rising"] = _rises(small, twin, summary, rows, looked.sampled)
    return TableColumn(
        source=table.name,
        column=column.name,
        type=column.type,
        family="number" if numeric else column.family,
        rows=rows,
        role=role,
        nulls=nulls,
        nan=nan,
        inf=inf,
        finite=finite,
        minimum=_float(summary.minimum),
        maximum=_float(summary.maximum),
        mean=_float(summary.mean),
        std=_float(summary.std),
        smallest=_float(summary.smallest),
        beyond_half=int(summary.beyond_half or 0),
        whole_beyond_float32=_beyond_float32(summary),
        constant=_constant(summary, rows, known.texts),
        stand_ins=codes,
        cells=_bad_cells(table, column, nulls, nan, inf) if numeric else _bad_lists(table, column, summary),
        **closely,
    )


def _non_finite(summary: Summary, numeric: bool) -> tuple[int, int, int]:
    if not numeric or summary.column.family == "integer":
        return 0, 0, int(summary.present or 0)
    nan, finite = int(summary.nan or 0), int(summary.finite or 0)
    return nan, int(summary.present) - nan - finite, finite


def _bad_cells(table: Table, column: Column, nulls: int, nan: int, inf: int) -> tuple[Cell, ...]:
    found: list[Cell] = []
    for kind, count in (("inf", inf), ("nan", nan), ("missing", nulls)):
        if count:
            found += table.cells(column, Wanted(kind), 3)
    return tuple(found[:5])


def _bad_lists(table: Table, column: Column, summary: Summary) -> tuple[Cell, ...]:
    return closer.list_cells(table, column, Wanted("elements")) if summary.bad_lists else ()


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _constant(summary: Summary, rows: int, texts: dict[str, str]) -> str | None:
    """The one value of a column, or None. A single row says nothing."""
    if rows < 2 or not summary.present:
        return None
    family = summary.column.family
    if family in ("float", "integer"):
        size = summary.finite if family == "float" else summary.present
        same = size == rows and summary.minimum == summary.maximum
        return f"{summary.minimum:.6g}" if same else None
    if family == "text":
        return texts[summary.column.name][:40] if summary.column.name in texts else None
    if family in ("bool", "time"):
        return str(summary.first)[:40] if summary.first == summary.last and summary.present == rows else None
    return None


def _beyond_float32(summary: Summary) -> int:
    """Whole numbers that float32 cannot tell from their neighbours: 1 where the extremes show it, else 0."""
    if summary.column.family != "integer" or not summary.present:
        return 0
    largest = max(abs(summary.minimum), abs(summary.maximum))
    return 1 if math.isfinite(largest) and largest > _FLOAT32_WHOLE else 0


def _rises(small: Table, column: Column, summary: Summary, rows: int, sampled: int | None) -> bool:
    """Whether a column of whole numbers counts the rows."""
    if rows < 20 or summary.maximum - summary.minimum + 1 != rows:
        return False
    counted, distinct = small.query(f"SELECT count({column.sql}), count(DISTINCT {column.sql}) FROM {{t}}")[0]
    return bool(counted == distinct)
