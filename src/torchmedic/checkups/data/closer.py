"""Closer looks at the columns of a table of bounded size: medians, far values, heaps, dates, lengths."""

from __future__ import annotations

import itertools
import math

from torchmedic.checkups.data.engine import LARGEST_DOUBLE, Column, DuckTable, Table, Wanted
from torchmedic.facts import Cell, Histogram, Instants, Lengths, Outliers, Texts, TwoScales

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
# Factors between units that people mix: metric steps, minutes, pounds, inches, feet, glucose, creatinine, cholesterol.
_UNIT_FACTORS = (10.0, 100.0, 1000.0, 60.0, 3600.0, 2.2046, 2.54, 25.4, 30.48, 3.2808, 3.6, 18.016, 88.42, 38.67, 453.6)
# A value that lies this many times farther out than all but a few of the others is no tail but an accident.
ISOLATED = 30.0
FAR = 100.0
FEWEST_ROWS = 30
_BINS = 24
_READABLE = 0.9


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


def _token_cells(table: Table, column: Column, tokens: list[tuple[str, int]]) -> tuple[Cell, ...]:
    """Cells that are no missing words first: they are the ones to decide about."""
    odd = next((token for token, _ in tokens if token.strip().lower() not in MISSING_WORDS and token.strip()), None)
    if odd is None:
        return table.cells(column, Wanted("text"))
    first = table.cells(column, Wanted("equal", text=odd), 1)
    return (*first, *(cell for cell in table.cells(column, Wanted("text")) if cell not in first))[:5]


def middles(table: Table, columns: list[Column]) -> dict[str, tuple[float, ...]]:
    """Low end, median, high end and size of each column; the ends leave out a thousandth, and two values at least."""
    found: dict[str, tuple[float, ...]] = {}
    for start in range(0, len(columns), 100):
        part = columns[start : start + 100]
        sizes = table.query("SELECT " + ", ".join(f"count({_if_finite(c)})" for c in part) + " FROM {t}")[0]
        asked = []
        for column, size in zip(part, sizes, strict=True):
            edge = min(0.25, max(0.001, 2.5 / max(1, size)))
            ends = ", ".join(f"{q:.9f}" for q in (edge, 0.5, 1 - edge))
            asked.append(f"quantile_disc({_if_finite(column)}, [{ends}])")
        answers = table.query("SELECT " + ", ".join(asked) + " FROM {t}")[0]
        for column, size, answer in zip(part, sizes, answers, strict=True):
            if answer is not None:
                found[column.name] = (*map(float, answer), float(size))
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
    if size < FEWEST_ROWS or reach <= 0 or farthest <= ISOLATED * reach:
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


def two_scales(table: Table, column: Column) -> TwoScales | None:
    """Two heaps of positive values with a gap between, a factor of units apart, of the same shape."""
    number = number_of(column)
    bins = table.query(
        f"SELECT CAST(floor(log10({number}) * 20) AS BIGINT) AS b, count(*) FROM {{t}} "
        f"WHERE {number} > 0 AND {_finite(column)} GROUP BY b ORDER BY b"
    )
    total = sum(n for _, n in bins)
    if total < 60 or len(bins) < 4:
        return None
    gap, at = max((b - a, i) for i, ((a, _), (b, _)) in enumerate(itertools.pairwise(bins)))
    low_count, high_count = sum(n for _, n in bins[: at + 1]), sum(n for _, n in bins[at + 1 :])
    if gap < 7 or min(low_count, high_count) < max(20, 0.02 * total):
        return None
    border = 10 ** ((bins[at][0] + bins[at + 1][0] + 1) / 40)
    return _matched(table, column, border, int(low_count), int(high_count))


def _matched(table: Table, column: Column, border: float, low_count: int, high_count: int) -> TwoScales | None:
    number = number_of(column)
    ends = "[0.1, 0.5, 0.9]"
    low, high = table.query(
        f"SELECT quantile_disc({number}, {ends}) FILTER (WHERE {number} > 0 AND {number} < {border!r}), "
        f"quantile_disc({number}, {ends}) FILTER (WHERE {number} >= {border!r} AND {_finite(column)}) FROM {{t}}"
    )[0]
    factor = high[1] / low[1]
    unit = next((known for known in _UNIT_FACTORS if abs(factor / known - 1) < 0.1), None)
    if unit is None or low[0] == low[2]:
        return None
    same_shape = abs(low[0] * unit / high[0] - 1) < 0.2 and abs(low[2] * unit / high[2] - 1) < 0.2
    if not same_shape:
        return None
    return TwoScales(factor=unit, low=low[1], high=high[1], low_count=low_count, high_count=high_count)


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
    forms = {f"regexp_matches({c}, '{form}')": day.format(c=c) for form, day in _DATES.items()}
    counts = ", ".join(f"count(*) FILTER (WHERE {form})" for form in forms)
    rows, *dated = small.query(f"SELECT count({c}), {counts} FROM {{t}}")[0]
    looks = next((form for form, n in zip(forms, dated, strict=True) if n and n >= _READABLE * rows), None)
    if looks is None:
        return None
    day = forms[looks]
    impossible = f"{looks} AND {day} IS NULL"
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
    text = counted.query(f"SELECT {c} FROM {{t}} WHERE {asked} LIMIT 1")
    cells = whole.cells(column, Wanted("equal", text=str(text[0][0])), 3) if text else ()
    return Instants(zones=zones, impossible=int(wrong), cells=cells)


def lengths(whole: Table, column: Column, shortest: float, longest: float) -> Lengths | None:
    """How the lengths of lists are spread, where they differ."""
    if shortest == longest:
        return None
    common = whole.query(
        f"SELECT {column.sql}, count(*) AS n FROM {{t}} WHERE {column.sql} IS NOT NULL "
        f"GROUP BY {column.sql} ORDER BY n DESC LIMIT 1"
    )[0]
    total = whole.query(f"SELECT count({column.sql}) FROM {{t}}")[0][0]
    share = common[1] / total
    return Lengths(shortest=int(shortest), longest=int(longest), common=int(common[0]), share=share)
