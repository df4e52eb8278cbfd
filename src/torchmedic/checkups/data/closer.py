"""Closer looks at the columns of a table of bounded size: medians, far values, heaps, dates, lengths."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from torchmedic.checkups.data.engine import LARGEST_DOUBLE, Column, DuckTable, Table, Wanted, literal
from torchmedic.facts import Cell, Histogram, Instants, Lengths, Outliers, Texts

# What pandas and R read as missing without a word.
MISSING_WORDS = frozenset(
    [
        "na",
        "n/a",
        "nan",
        "-nan",
        "null",
        "none",
        "nil",
        "#n/a",
        "#na",
        "#n/a n/a",
        "<na>",
        "1.#ind",
        "-1.#ind",
        "1.#qnan",
        ".",
    ]
)
# A value that lies this many times farther out than all but a few of the others is no tail but an accident.
ISOLATED = 30.0
FAR = 100.0
FEWEST_ROWS = 30
# Of values above zero, one that is this many times farther out on a scale of orders of magnitude is none of a tail.
_DECADES = 2.0
_BINS = 24
_READABLE = 0.9
_CODE = re.compile(r"(?![HL]{1,2}\d)[A-Z]{1,2}-?\d{2,}(?:\.\d+)?[A-Z]?|\d{4,}[A-Z]")
_FEWEST_CODES = 3
_MOST_OF_CODES = 50


def number_of(column: Column) -> str:
    return f"CAST({column.sql} AS DOUBLE)"


def texts_of(table: Table, column: Column, count: int) -> Texts | None:
    """What is no number in a column that is nearly all numbers."""
    if not count:
        return None
    tokens = table.query(
        f"SELECT {column.raw}, count(*) AS n FROM {{t}} WHERE {column.raw} IS NOT NULL AND {column.sql} IS NULL "
        f"GROUP BY {column.raw} ORDER BY n DESC, {column.raw} LIMIT 200"
    )
    real = [(str(token)[:40], int(n)) for token, n in tokens]
    words = [(token, n) for token, n in real if token.strip().lower() in MISSING_WORDS or not token.strip()]
    return Texts(
        count=count,
        missing_words=sum(n for _, n in words),
        missing_tokens=tuple(token for token, _ in words),
        tokens=tuple(real[:8]),
        cells=_token_cells(table, column, real),
    )


def columns_of_codes(table: Table, names: frozenset[str]) -> frozenset[str]:
    """Of columns of text that are nearly all numbers, those that hold names in digits: the other cells have letters."""
    asked = [column for column in table.columns if column.name in names][:_MOST_OF_CODES]
    return frozenset(column.name for column in asked if _are_codes(_not_numbers(table, column)))


def _not_numbers(table: Table, column: Column) -> list[str]:
    c = column.sql
    rows = table.query(
        f"SELECT {c}, count(*) AS n FROM {{t}} WHERE {c} IS NOT NULL AND try_cast({c} AS DOUBLE) IS NULL "
        f"GROUP BY {c} ORDER BY n DESC, {c} LIMIT 200"
    )
    return [str(token).strip() for token, _ in rows]


def _are_codes(tokens: list[str]) -> bool:
    """Letters before the digits, as `V86`, or several letters behind them, as `85123A`; one letter may be a unit.

    `H7.2` and `L0.3` are how laboratories mark what is too high or too low.
    """
    real = [token for token in tokens if token and token.lower() not in MISSING_WORDS]
    if len(real) < _FEWEST_CODES or not all(map(_CODE.fullmatch, real)):
        return False
    behind = {token[-1] for token in real if token[0].isdigit()}
    return not behind or len(behind) >= _FEWEST_CODES


def _token_cells(table: Table, column: Column, tokens: list[tuple[str, int]]) -> tuple[Cell, ...]:
    """Cells that are no missing words first: they are the ones to decide about."""
    odd = next((token for token, _ in tokens if token.strip().lower() not in MISSING_WORDS and token.strip()), None)
    if odd is None:
        return table.cells(column, Wanted("text"))
    first = table.cells(column, Wanted("equal", text=odd), 1)
    return (*first, *(cell for cell in table.cells(column, Wanted("text")) if cell not in first))[:5]


def single_texts(whole: Table, small: Table, columns: list[Column], sampled: bool) -> dict[str, str]:
    """The one text of each column that has one. All texts are compared only where those of the sample are alike."""
    found: dict[str, str] = {}
    for start in range(0, len(columns), 100):
        alike = _alike(small, columns[start : start + 100])
        if sampled and alike:
            ends = ", ".join(f"min({c.sql}), max({c.sql})" for c in alike)
            answer = whole.query(f"SELECT {ends} FROM {{t}}")[0]
            alike = {c: answer[2 * i] for i, c in enumerate(alike) if answer[2 * i] == answer[2 * i + 1]}
        found |= {column.name: str(text) for column, text in alike.items()}
    return found


def _alike(small: Table, columns: list[Column]) -> dict[Column, Any]:
    """Columns whose texts are all like the first one; comparing with one text is cheaper than sorting them."""
    first = small.query("SELECT " + ", ".join(f"any_value({c.sql})" for c in columns) + " FROM {t}")[0]
    texts = {c: text for c, text in zip(columns, first, strict=True) if text is not None}
    if not texts:
        return {}
    others = (f"count(CASE WHEN {c.sql} <> {literal(text)} THEN 1 END)" for c, text in texts.items())
    counts = small.query("SELECT " + ", ".join(others) + " FROM {t}")[0]
    return {c: text for (c, text), n in zip(texts.items(), counts, strict=True) if not n}


def middles(table: Table, sizes: dict[Column, float]) -> dict[str, tuple[float, ...]]:
    """Low end, median, high end and size of each column; the ends leave out a thousandth, and two values at least.

    `sizes` says about how many finite values each column has.
    """
    found: dict[str, tuple[float, ...]] = {}
    for start in range(0, len(sizes), 100):
        part, asked = list(sizes.items())[start : start + 100], []
        for column, size in part:
            edge = min(0.25, max(0.001, 2.5 / max(1, size)))
            ends = ", ".join(f"{q:.9f}" for q in (edge, 0.5, 1 - edge))
            asked.append(f"quantile_disc({_if_finite(column)}, [{ends}])")
        answers = table.query("SELECT " + ", ".join(asked) + " FROM {t}")[0]
        for (column, size), answer in zip(part, answers, strict=True):
            if answer is not None:
                found[column.name] = (*map(float, answer), size)
    return found


def _if_finite(column: Column) -> str:
    """The number, or nothing. As a FILTER it would cost columns squared in DuckDB."""
    return f"CASE WHEN {_finite(column)} THEN {number_of(column)} END"


def _finite(column: Column) -> str:
    return f"abs({number_of(column)}) <= {LARGEST_DOUBLE}"


def outliers(
    whole: Table, small: Table, column: Column, middle: tuple[float, ...], ends: tuple[float, float]
) -> Outliers | None:
    """Values cut off from all others by a wide gap. `ends` are the exact extremes over all rows."""
    low, median, high, size = middle
    reach = max(median - low, high - median)
    farthest = max(median - ends[0], ends[1] - median)
    if size < FEWEST_ROWS or reach <= 0 or farthest <= ISOLATED * reach or _spans_decades(middle, ends):
        return None
    number = number_of(column)
    off = f"abs({number} - {median!r})"
    deviation = float(small.query(f"SELECT median({off}) FROM {{t}} WHERE {_finite(column)}")[0][0]) * 1.4826
    scale = deviation or reach
    tail = whole.query(
        f"SELECT {number} FROM {{t}} WHERE {_finite(column)} AND {off} > {reach!r} ORDER BY {off} DESC LIMIT 2000"
    )
    nearest, cut = _gap([abs(value - median) for (value,) in tail], reach)
    if nearest < FAR * scale:
        return None
    low_cut, high_cut = median - cut, median + cut
    wanted = Wanted("outside", low_cut, high_cut)
    count = int(whole.query(f"SELECT count(*) FROM {{t}} WHERE {wanted.sql(column)}")[0][0])
    worst = ends[1] if ends[1] - median >= median - ends[0] else ends[0]
    return Outliers(
        count=count,
        cut=cut,
        median=median,
        deviation=deviation,
        farthest=farthest / scale,
        value=float(worst),
        cells=whole.cells(column, wanted),
    )


def _spans_decades(middle: tuple[float, ...], ends: tuple[float, float]) -> bool:
    """Whether values of one sign have so many orders of magnitude that the farthest is one of them."""
    low, median, high, _ = middle
    if low > 0 < ends[0]:
        return math.log(ends[1] / median) < _DECADES * math.log(high / median)
    if high < 0 > ends[1]:
        return math.log(ends[0] / median) < _DECADES * math.log(low / median)
    return False


def _gap(distances: list[float], reach: float) -> tuple[float, float]:
    """The last distance, coming from outside, before they fall by the factor of isolation at once, and a cut behind it.

    Both are 0 for a smooth tail.
    """
    for outer, inner in zip(distances, [*distances[1:], reach], strict=True):
        if outer > ISOLATED * max(inner, reach):
            return outer, math.sqrt(outer * max(inner, reach))
    return 0.0, 0.0


def histogram(table: Table, column: Column, middle: tuple[float, ...]) -> Histogram | None:
    """Counts in bins of equal width between the low and the high end; a single far value must not flatten them."""
    low, _, high, _ = middle
    width = (high - low) / _BINS
    if not 0 < width < math.inf:
        return None
    number = number_of(column)
    place = f"CASE WHEN {number} < {low!r} THEN -1 WHEN {number} > {high!r} THEN {_BINS} "
    place += f"ELSE least(CAST(floor(({number} - {low!r}) / {width!r}) AS INTEGER), {_BINS - 1}) END"
    counts = dict(table.query(f"SELECT {place} AS b, count(*) FROM {{t}} WHERE {_finite(column)} GROUP BY b"))
    inside = tuple(int(counts.get(i, 0)) for i in range(_BINS))
    return Histogram(low=low, high=high, counts=inside, below=counts.get(-1, 0), above=counts.get(_BINS, 0))


_ZONE = r"([Zz]|[+-][0-9]{2}:?[0-9]{2})$"
# How dates are written, and the day they name: year first, or year last with day and month in either order.
_DATES = {
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}": "try_cast(substr({c}, 1, 10) AS DATE)",
    "^[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{4}": (
        "try_strptime(replace(regexp_extract({c}, '^[0-9/.]+'), '.', '/'), ['%d/%m/%Y', '%m/%d/%Y'])"
    ),
}


def instants(whole: Table, small: Table, column: Column, twin: Column) -> Instants | None:
    """Zones and impossible days in a column of text that is nearly all dates."""
    c = twin.sql
    # What is counted is counted in every row, where the engine knows these functions.
    counted = whole if isinstance(whole, DuckTable) else small
    # Dates begin with a digit, which sorts before the colon: of other texts no pattern is tried, that being slow.
    dated_like = f"CASE WHEN {c} < ':' THEN {c} END"
    forms = {f"regexp_matches({dated_like}, '{form}')": day.format(c=c) for form, day in _DATES.items()}
    counts = ", ".join(f"count(*) FILTER (WHERE {form})" for form in forms)
    rows, *dated = small.query(f"SELECT count({c}), {counts} FROM {{t}}")[0]
    looks = next((form for form, n in zip(forms, dated, strict=True) if n and n >= _READABLE * rows), None)
    if looks is None:
        return None
    impossible = f"{looks} AND {forms[looks]} IS NULL"
    zoned, plain, wrong = counted.query(
        f"SELECT count(*) FILTER (WHERE {looks} AND length({c}) > 10 AND regexp_matches({c}, '{_ZONE}')), "
        f"count(*) FILTER (WHERE {looks} AND length({c}) > 10 AND NOT regexp_matches({c}, '{_ZONE}')), "
        f"count(*) FILTER (WHERE {impossible}) FROM {{t}}"
    )[0]
    zones = (("with a zone", int(zoned)), ("without one", int(plain))) if zoned and plain else ()
    if not zones and not wrong:
        return None
    asked = (
        impossible
        if wrong
        else f"NOT regexp_matches({c}, '{_ZONE}')"
        if plain < zoned
        else f"regexp_matches({c}, '{_ZONE}')"
    )
    texts = counted.query(f"SELECT {c}, count(*) FROM {{t}} WHERE {asked} GROUP BY {c} ORDER BY 2 DESC, 1 LIMIT 3")
    cells = [cell for text, _ in texts for cell in whole.cells(column, Wanted("equal", text=str(text)), 2)]
    return Instants(zones=zones, impossible=int(wrong), cells=tuple(cells[:4]))


def impossible_days(column: Column) -> str:
    """The condition in SQL under which a cell has the form of a date and names no day."""
    c = column.sql
    wrong = (f"(regexp_matches({c}, '{form}') AND {day.format(c=c)} IS NULL)" for form, day in _DATES.items())
    return " OR ".join(wrong)


def lengths(whole: Table, column: Column, shortest: float, longest: float) -> Lengths | None:
    """How the lengths of lists are spread, where they differ."""
    if shortest == longest:
        return None
    common = whole.query(
        f"SELECT {column.sql}, count(*) AS n FROM {{t}} WHERE {column.sql} IS NOT NULL "
        f"GROUP BY {column.sql} ORDER BY n DESC LIMIT 1"
    )[0]
    total = whole.query(f"SELECT count({column.sql}) FROM {{t}}")[0][0]
    share, usual = common[1] / total, int(common[0])
    cells = list_cells(whole, column, Wanted("length", low=usual)) if share >= _READABLE else ()
    return Lengths(shortest=int(shortest), longest=int(longest), common=usual, share=share, cells=cells)


def list_cells(whole: Table, column: Column, wanted: Wanted) -> tuple[Cell, ...]:
    """Some of the wanted lists; an engine shows their length."""
    cells = whole.cells(column, wanted, 3)
    return tuple(replace(cell, text=f"a list of {cell.text}") if cell.text.isdigit() else cell for cell in cells)
