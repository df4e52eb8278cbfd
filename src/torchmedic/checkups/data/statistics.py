"""The statistics pass: one SQL text for every engine, aggregated over finite values only."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

from torchmedic.checkups.data.engine import LARGEST_DOUBLE, Column, DuckTable, Table
from torchmedic.facts import Group

LARGEST_HALF = 65504
# Below this share of the mean, a spread is what float32 makes of rounding (its step is 1.2e-7 of the value).
NEAR_CONSTANT = 1e-6
MOST_GROUPS = 200_000
# The share of readable cells from which a column of text is one of numbers.
READABLE = 0.9
_COLUMNS_AT_ONCE = 200
# Fewer rows of a group are no pattern; means are sums whose last digits are rounding.
_MANY_IN_GROUP, _ROUNDING = 30, 1e-13
_NUMBER_WORDS = ("nan", "NaN", "inf")

# A sum of squares says nothing about a variance that is so small a share of it.
_LOST = 1e-8

_NUMBERS = ("present", "nan", "finite", "beyond_half", "minimum", "maximum", "smallest")
_WHOLE = ("present", "minimum", "maximum")
_WITHIN = ("bad_lists", "bad_elements")
_EXACT = ("mean", "std")
_SUMS = ("total", "squares")
_TEXT = ("present", "readable")
_ENDS = ("present", "first", "last")


@dataclass
class Summary:
    """The aggregates of one column, by name; what a family has not is None."""

    column: Column
    values: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return self.values.get(name)


@dataclass
class Statistics:
    """All columns over all rows, and the columns of values by group."""

    rows: int
    columns: list[Summary]
    groups: dict[str, list[tuple[Any, int, list[Summary]]]] = field(default_factory=dict)


@functools.lru_cache(maxsize=20_000)
def aggregates(column: Column, exact: bool = True) -> dict[str, str]:
    """The aggregates of a column by name, in SQL that DuckDB and Spark both run.

    Not exact: sums of values and of squares instead of mean and spread, which a division a row makes slow.
    """
    c = column.sql
    if column.family == "float":
        written = {"written": f"count({column.raw})"} if column.raw else {}
        finite = f"CASE WHEN abs({c}) <= {LARGEST_DOUBLE} THEN {c} END"
        return dict(zip(_NUMBERS, _of_numbers(c, finite), strict=True)) | _moments_of(finite, exact) | written
    if column.family in ("integer", "list"):
        whole = (f"count({c})", f"min({c})", f"max({c})")
        within = (f"count(CASE WHEN {column.bad} > 0 THEN 1 END)", f"sum({column.bad})")
        inside = dict(zip(_WITHIN, within, strict=True)) if column.bad else {}
        return dict(zip(_WHOLE, whole, strict=True)) | _moments_of(f"CAST({c} AS DOUBLE)", exact) | inside
    if column.family == "text":
        # A failing cast is slow: only what can begin a number is tried, digits and signs sort before the colon.
        tried = f"CASE WHEN {c} < ':' OR {c} IN {_NUMBER_WORDS} THEN {c} END"
        return dict(zip(_TEXT, (f"count({c})", f"count(try_cast({tried} AS DOUBLE))"), strict=True))
    if column.family in ("time", "bool"):
        said = f"CAST({c} AS STRING)"
        return dict(zip(_ENDS, (f"count({c})", f"min({said})", f"max({said})"), strict=True))
    return {"present": f"count({c})"}


def _of_numbers(c: str, finite: str) -> tuple[str, ...]:
    # Not FILTER: DuckDB then copies a selection of all columns for each aggregate, which costs columns squared.
    return (
        f"count({c})",
        f"count(CASE WHEN isnan({c}) THEN 1 END)",
        f"count({finite})",
        f"count(CASE WHEN abs({finite}) > {LARGEST_HALF} THEN 1 END)",
        f"min({finite})",
        f"max({finite})",
        f"min(abs(nullif({finite}, 0)))",
    )


def _moments_of(number: str, exact: bool) -> dict[str, str]:
    if exact:
        return dict(zip(_EXACT, (f"avg({number})", f"stddev_samp({number})"), strict=True))
    double = f"CAST({number} AS DOUBLE)"
    return dict(zip(_SUMS, (f"sum({double})", f"sum({double} * {double})"), strict=True))


def statement(columns: list[Column], keys: tuple[str, ...] = (), exact: bool = True) -> str:
    """The one query: the aggregates of the columns, over everything or by one key or several."""
    parts = [sql for column in columns for sql in aggregates(column, exact).values()]
    head = "".join(f"{key}, " for key in keys)
    told = "".join(f", grouping({key})" for key in keys) if len(keys) > 1 else ""
    listed = ", ".join(["count(*)", *parts])
    if not keys:
        return f"SELECT {listed} FROM {{t}}"
    sets = ", ".join(f"({key})" for key in keys)
    by = keys[0] if len(keys) == 1 else f"GROUPING SETS ({sets})"
    return f"SELECT {head}{listed}{told} FROM {{t}} GROUP BY {by}"


def numbers_as_text(found: Statistics) -> list[Column]:
    """Columns of text that are nearly all numbers."""
    return [
        summary.column
        for summary in found.columns
        if summary.column.family == "text" and summary.present >= 5 and summary.readable >= READABLE * summary.present
    ]


def statistics(table: Table, keys: list[Column], values: list[Column]) -> Statistics:
    """Look at every row once: columns of values by group, the others over all rows.

    A compressed text is read in one query, whatever that costs in aggregation; other files in two that each read
    only their columns. Totals of grouped columns are put together from their groups.
    """
    if not keys:
        return _whole(table, table.columns)
    names = tuple(key.sql for key in keys)
    if table.reads_once:
        rows = table.query(statement(table.columns, names))
        by_key = _by_key(rows, keys, table.columns)
        total, merged = _merged(by_key[keys[0].name], table.columns)
        return Statistics(total, merged, by_key)
    rest = [column for column in table.columns if column not in values]
    by_key = _by_key(table.query(statement(values, names)), keys, values)
    total, merged = _merged(by_key[keys[0].name], values)
    others = _whole(table, rest) if rest else Statistics(total, [])
    found = {summary.column.name: summary for summary in (*merged, *others.columns)}
    return Statistics(total, [found[column.name] for column in table.columns], by_key)


def _whole(table: Table, columns: list[Column]) -> Statistics:
    """Over all rows, so many columns at a time that a table of ten thousand needs no giant query."""
    if isinstance(table, DuckTable) and len(columns) > _COLUMNS_AT_ONCE:
        return _of_wide(table, columns)
    return _in_parts(table, columns)


def _of_wide(table: Table, columns: list[Column]) -> Statistics:
    """The same of very many columns. To plan a query takes the square of its aggregates: here numbers share theirs."""
    wide = [column for column in columns if _is_plain_number(column)]
    rest = _in_parts(table, [column for column in columns if not _is_plain_number(column)])
    if not wide:
        return rest
    listed = ", ".join(f"CAST({column.sql} AS DOUBLE) AS {column.sql}" for column in wide)
    asked = aggregates(Column("v", "v", "DOUBLE", "float"))
    answers = table.query(
        f"SELECT n, {', '.join(asked.values())} FROM (FROM (SELECT {listed} FROM {{t}}) "
        f"UNPIVOT INCLUDE NULLS (v FOR n IN ({', '.join(column.sql for column in wide)}))) GROUP BY n"
    )
    numbers = {name: dict(zip(asked, values, strict=True)) for name, *values in answers}
    none = dict.fromkeys(asked) | dict.fromkeys(_NUMBERS[:4], 0)
    found = {summary.column: summary for summary in rest.columns}
    found |= {c: Summary(c, {n: numbers.get(c.sql, none)[n] for n in aggregates(c)}) for c in wide}
    return Statistics(rest.rows, [found[column] for column in columns])


def _is_plain_number(column: Column) -> bool:
    return column.family in ("float", "integer") and not column.raw


def _in_parts(table: Table, columns: list[Column]) -> Statistics:
    rows, found = 0, []
    for start in range(0, max(1, len(columns)), _COLUMNS_AT_ONCE):
        part = columns[start : start + _COLUMNS_AT_ONCE]
        # A second look at a few columns costs little, but not where everything must be unpacked for it.
        exact = table.reads_once
        answer = table.query(statement(part, exact=exact))[0]
        rows = int(answer[0])
        summaries = _summaries(part, answer[1:], exact)
        _look_again(table, [summary for summary in summaries if not _has_moments(summary)])
        found += summaries
    return Statistics(rows, found)


def _has_moments(summary: Summary) -> bool:
    """Whether mean and spread follow from the sums; takes them over where they do."""
    total, squares, size = summary.total, summary.squares, _size(summary)
    if total is None or not size:
        return True
    mean = total / size
    if summary.minimum == summary.maximum:
        summary.values |= {"mean": mean, "std": 0.0 if size > 1 else None}
        return True
    left = squares - total * mean
    if not _LOST * squares <= left < math.inf:
        return False
    summary.values |= {"mean": mean, "std": math.sqrt(left / (size - 1))}
    return True


def _look_again(table: Table, summaries: list[Summary]) -> None:
    """Mean and spread of columns whose sums are too large to tell."""
    if not summaries:
        return
    asked = [aggregates(summary.column)[name] for summary in summaries for name in _EXACT]
    answer = table.query(f"SELECT {', '.join(asked)} FROM {{t}}")[0]
    for i, summary in enumerate(summaries):
        summary.values |= dict(zip(_EXACT, answer[2 * i : 2 * i + 2], strict=True))


def _summaries(columns: list[Column], answer: tuple[Any, ...], exact: bool = True) -> list[Summary]:
    found, at = [], 0
    for column in columns:
        names = aggregates(column, exact)
        found.append(Summary(column, dict(zip(names, answer[at : at + len(names)], strict=True))))
        at += len(names)
    return found


def _by_key(
    rows: list[tuple[Any, ...]], keys: list[Column], columns: list[Column]
) -> dict[str, list[tuple[Any, int, list[Summary]]]]:
    found: dict[str, list[tuple[Any, int, list[Summary]]]] = {key.name: [] for key in keys}
    width = len(keys)
    for row in rows:
        mine = 0 if width == 1 else next(i for i in range(width) if row[-width + i] == 0)
        body = row[width + 1 :] if width == 1 else row[width + 1 : -width]
        found[keys[mine].name].append((row[mine], int(row[width]), _summaries(columns, body)))
    return found


def _merged(groups: list[tuple[Any, int, list[Summary]]], columns: list[Column]) -> tuple[int, list[Summary]]:
    """Statistics of the whole from those of its groups."""
    total = sum(rows for _, rows, _ in groups)
    return total, [_merge(column, [parts[i] for _, _, parts in groups]) for i, column in enumerate(columns)]


def _merge(column: Column, parts: list[Summary]) -> Summary:
    values: dict[str, Any] = {}
    for name in aggregates(column):
        present = [part.values[name] for part in parts if part.values[name] is not None]
        if name in ("minimum", "first", "smallest"):
            values[name] = min(present, default=None)
        elif name in ("maximum", "last"):
            values[name] = max(present, default=None)
        elif name not in ("mean", "std"):
            values[name] = sum(present)
    if "mean" in aggregates(column):
        values["mean"], values["std"] = _moments(parts)
    return Summary(column, values)


def _moments(parts: list[Summary]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation of the union: the spread within groups and that between them."""
    sized = [(_size(part), part.mean, part.std or 0.0) for part in parts if part.mean is not None]
    total = sum(size for size, _, _ in sized)
    if not total:
        return None, None
    mean = math.fsum(size * centre for size, centre, _ in sized) / total
    square = math.fsum((size - 1) * std * std + size * (centre - mean) ** 2 for size, centre, std in sized)
    return mean, math.sqrt(square / (total - 1)) if total > 1 else None


def _size(part: Summary) -> int:
    finite = part.values.get("finite")
    return int(part.values["present"] if finite is None else finite)


def flat_groups(groups: list[tuple[Any, int, list[Summary]]], at: int) -> tuple[list[Group], list[Group], int]:
    """Groups without spread, groups whose spread float32 cannot show, and how many hold a single value."""
    constant, near, single = [], [], 0
    for key, _, summaries in groups:
        part = summaries[at]
        size = _size(part)
        if key is None or not size:
            continue
        low, high = float(part.values["minimum"]), float(part.values["maximum"])
        if size == 1:
            single += 1
        elif low == high:
            constant.append(Group(key=str(key), rows=size, value=low))
        elif _is_rounding(part, high - low):
            near.append(Group(key=str(key), rows=size, value=float(part.mean), spread=high - low))
    return sorted(constant, key=_largest), sorted(near, key=_largest), single


def all_but_one(groups: list[tuple[Any, int, list[Summary]]], at: int) -> list[Group]:
    """Groups in which one value hides that all others are equal, and not 0, as where something happened once.

    The mean tells: were any other value off the common one, it would lie farther from it than one value takes it.
    """
    found = []
    for key, _, summaries in groups:
        part = summaries[at]
        size = _size(part)
        if key is None or size < _MANY_IN_GROUP or part.mean is None or part.column.family != "float":
            continue
        low, high, mean = float(part.minimum), float(part.maximum), float(part.mean)
        slack = _ROUNDING * size * max(abs(low), abs(high))
        common = low if mean - low < high - mean else high
        away = size * abs(mean - common)
        if common and high - low > slack and abs(away - (high - low)) <= slack:
            found.append(Group(key=str(key), rows=size, value=common, spread=high - low))
    return sorted(found, key=_largest)


def is_attribute(groups: list[tuple[Any, int, list[Summary]]], at: int) -> bool:
    """Whether the key alone says the value, as that of an item says its category: nobody takes a spread of that."""
    parts = [parts[at] for key, _, parts in groups if key is not None and _size(parts[at]) > 1]
    return all(part.minimum == part.maximum for part in parts) and len({part.minimum for part in parts}) > 1


def _is_rounding(part: Summary, spread: float) -> bool:
    size = max(abs(part.values["minimum"]), abs(part.values["maximum"]))
    if spread > 4 * NEAR_CONSTANT * size:
        return False
    return bool((part.std or 0.0) <= NEAR_CONSTANT * abs(part.mean))


def _largest(group: Group) -> tuple[int, str]:
    return -group.rows, group.key
