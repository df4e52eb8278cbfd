"""Numbers that stand for missing values: -999, -200, 1e20, or 0 where nothing can be 0."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.checkups.data.engine import LARGEST_DOUBLE, Column, Table, Wanted
from torchmedic.facts import StandIn

_NEGATIVE = (-9, -99, -200, -999, -9999, -99999, -999999, -32768, -2147483648, -1e20, -1e30)
_POSITIVE = (777, 888, 999, 7777, 8888, 9999, 99999, 999999, 32767, 65535, 2147483647, 1e20, 1e30, 9.96921e36)
_LEAST_SHARE, _LEAST_TIMES = 0.005, 5
_LEAST_KINDS, _LEAST_KINDS_BELOW = 10, 4
_SAME_IN_COLUMNS = 3
_MOST_CODES = 3
_AT_ONCE = 100
_FAR_ABOVE = 5
_NINETY_NINE, _TIMES_AS_FAR = 99, 5
# What is measured of a body, where 0 is no reading; of things (areas, prices, loads) 0 may well be true.
_NEVER_ZERO = re.compile(
    r"^(?:body_?)?(?:height|weight)(?:_?(?:kg|lbs?|cm|m|in))?$|(?:^|_)(?:bmi|glucose|insulin|cholesterol|platelets|"
    r"ha?emoglobin|sodium|potassium|creatinine|albumin|heart_?rate|pulse|spo2|sao2|resp(?:iratory)?_?rate|[sd]bp|"
    r"blood_?pressure|skin_?thickness|body_?temp(?:erature)?)(?:$|_)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class _End:
    """One value at an end of a column, how often it is there in the sample, and what the others look like."""

    value: float
    times: int
    low: float
    high: float
    kinds: int


def stand_ins(
    whole: Table, small: Table, columns: list[Column], middles: dict[str, tuple[float, ...]]
) -> dict[str, tuple[StandIn, ...]]:
    """For each column, the numbers at its ends that stand for missing values, counted over all rows."""
    found = {column: _codes(small, column) for column in _suspects(small, columns, middles)}
    shared = Counter(end.value for ends in found.values() for end in ends)
    counted: dict[str, tuple[StandIn, ...]] = {}
    for column, ends in found.items():
        kept = [end for end in ends if _is_known(end) or _is_never_zero(column, end) or _is_shared(end, shared)]
        codes = tuple(_counted(whole, column, end) for end in kept)
        if codes:
            counted[column.name] = codes
    return counted


def _is_known(end: _End) -> bool:
    """A usual code; -1 where all others are far above 0, 99 where they are but a few units."""
    small = end.value == -1 and end.low >= _FAR_ABOVE
    large = end.value == _NINETY_NINE and end.low >= 0 and _TIMES_AS_FAR * end.high < _NINETY_NINE
    return _is_usual(end.value) or small or large


def _is_usual(value: float) -> bool:
    return any(math.isclose(value, known, rel_tol=1e-6) for known in (*_NEGATIVE, *_POSITIVE))


def _is_shared(end: _End, shared: Counter[float]) -> bool:
    return end.value != 0 and shared[end.value] >= _SAME_IN_COLUMNS


def _is_never_zero(column: Column, end: _End) -> bool:
    return end.value == 0 and _NEVER_ZERO.search(_WORDS.sub("_", column.name)) is not None


def _suspects(small: Table, columns: list[Column], middles: dict[str, tuple[float, ...]]) -> Iterator[Column]:
    """Columns that have the value at their low or high end, some far ones left out, again and again."""
    for start in range(0, len(columns), _AT_ONCE):
        ends = {column: middles[column.name] for column in columns[start : start + _AT_ONCE]}
        counts = ", ".join(_times(column, end) for column, (low, _, high, _) in ends.items() for end in (low, high))
        times = small.query(f"SELECT {counts} FROM {{t}}")[0]
        for i, (column, (*_, size)) in enumerate(ends.items()):
            if max(times[2 * i : 2 * i + 2]) >= _least(size):
                yield column


def _times(column: Column, value: float) -> str:
    return f"count(CASE WHEN {_number(column)} = {value!r} THEN 1 END)"


def _number(column: Column) -> str:
    return f"CAST({column.sql} AS DOUBLE)"


def _finite(column: Column) -> str:
    return f"abs({_number(column)}) <= {LARGEST_DOUBLE}"


def _least(rows: float) -> float:
    return max(_LEAST_TIMES, _LEAST_SHARE * rows)


def _codes(small: Table, column: Column) -> list[_End]:
    """Values at the ends, from outside inwards, as long as each is far from what is left."""
    values = small.query(
        f"SELECT {_number(column)} AS v, count(*) FROM {{t}} WHERE {_finite(column)} GROUP BY v ORDER BY v"
    )
    present = sum(n for _, n in values)
    found: list[_End] = []
    while len(values) > _LEAST_KINDS_BELOW and len(found) < _MOST_CODES:
        code = next((end for end in _ends(values) if end.times >= _least(present) and _is_far(end, values)), None)
        if code is None:
            break
        found.append(code)
        values = [(value, n) for value, n in values if value != code.value]
    return found


def _ends(values: list[tuple[float, int]]) -> tuple[_End, _End]:
    kinds = len(values) - 1
    return (
        _End(*values[0], values[1][0], values[-1][0], kinds),
        _End(*values[-1], values[0][0], values[-2][0], kinds),
    )


def _is_far(end: _End, values: list[tuple[float, int]]) -> bool:
    if end.value == 0 and end.low > 0:
        # Nothing between none and the smallest real value, which is not small itself.
        rest = [pair for pair in values if pair[0] != 0]
        return end.kinds >= _LEAST_KINDS and 2 * end.times < sum(n for _, n in values) and end.low > _middle(rest) / 20
    spread = end.high - end.low
    gap = end.low - end.value if end.value < end.low else end.value - end.high
    of_other_sign = end.value < 0 <= end.low and (gap > spread / 4 or _is_usual(end.value))
    least = _LEAST_KINDS_BELOW if end.value < 0 <= end.low or end.value == _NINETY_NINE else _LEAST_KINDS
    return end.kinds >= least and (gap > spread or of_other_sign)


def _middle(values: list[tuple[float, int]]) -> float:
    """The median of values with their counts."""
    half, seen = sum(n for _, n in values) / 2, 0
    for value, n in values:
        seen += n
        if seen >= half:
            return value
    return 0.0


def _counted(whole: Table, column: Column, end: _End) -> StandIn:
    wanted = Wanted("number", low=end.value)
    own = next(c for c in whole.columns if c.name == column.name)
    count = int(whole.query(f"SELECT count(*) FROM {{t}} WHERE {wanted.sql(own)}")[0][0])
    return StandIn(value=end.value, count=count, low=end.low, high=end.high, cells=whole.cells(own, wanted, 3))
