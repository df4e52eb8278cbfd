"""Columns in two units: two heaps of one shape, a well-known conversion apart, with a gap or a dip between them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from torchmedic.checkups.data.engine import LARGEST_DOUBLE, Column, Table
from torchmedic.facts import TwoScales

# Factors between units that people mix: metric steps, minutes, pounds, inches, feet, glucose, creatinine, cholesterol.
_FACTORS = (10.0, 100.0, 1000.0, 60.0, 3600.0, 2.2046, 2.54, 25.4, 30.48, 3.2808, 3.6, 18.016, 88.42, 38.67, 453.6)
# Fahrenheit and kelvin, of degrees Celsius.
_AFFINE = ((1.8, 32.0), (1.0, 273.15))
_PER_DECADE, _COARSE = 100, 5
_WIDE_GAP = 7
_NARROW = 1.1
_FEWEST = 60
# What it takes where the heaps overlap: values in all, in the smaller one, a dip, and one shape after conversion.
_FEWEST_OVERLAPPING, _SMALLER, _SMALLER_SHARE = 500, 100, 0.03
_DIP, _ALIKE = 0.6, 0.06
# So much of a heap may lie on the other side of the dip; where more does, they are no two heaps.
_BESIDE = 0.15
_FEWEST_KINDS = 10
_ROUNDS = 40
_LONGEST = 2000
_UNLIKELY = 1e-7


def two_scales(table: Table, column: Column) -> TwoScales | None:
    """Two heaps of positive values, a conversion of units apart and of the same shape."""
    number = f"CAST({column.sql} AS DOUBLE)"
    bins = table.query(
        f"SELECT CAST(floor(log10({number}) * {_PER_DECADE}) AS BIGINT) AS b, count(*) FROM {{t}} "
        f"WHERE {number} > 0 AND abs({number}) <= {LARGEST_DOUBLE} GROUP BY b ORDER BY b"
    )
    total = sum(n for _, n in bins)
    if total < _FEWEST:
        return None
    border = _gap(bins, total)
    if border is not None:
        return _matched(table, number, border)
    return _overlapping(bins, total)


def _gap(bins: list[tuple[int, int]], total: int) -> float | None:
    """A value in the widest gap of the orders of magnitude, if it parts the values into two heaps worth the name."""
    grouped = itertools.groupby(bins, key=lambda one: one[0] // _COARSE)
    counted = [(b, sum(n for _, n in part)) for b, part in grouped]
    if len(counted) < 2:
        return None
    gap, at = max((b - a, i) for i, ((a, _), (b, _)) in enumerate(itertools.pairwise(counted)))
    low, high = sum(n for _, n in counted[: at + 1]), sum(n for _, n in counted[at + 1 :])
    if gap < _WIDE_GAP or min(low, high) < max(20, 0.02 * total):
        return None
    return float(10 ** ((counted[at][0] + counted[at + 1][0] + 1) * _COARSE / (2 * _PER_DECADE)))


def _matched(table: Table, number: str, border: float) -> TwoScales | None:
    ends = "[0.1, 0.5, 0.9]"
    low, low_count, high, high_count = table.query(
        f"SELECT quantile_disc({number}, {ends}) FILTER (WHERE {number} > 0 AND {number} < {border!r}), "
        f"count(*) FILTER (WHERE {number} > 0 AND {number} < {border!r}), "
        f"quantile_disc({number}, {ends}) FILTER (WHERE {number} >= {border!r} AND abs({number}) <= {LARGEST_DOUBLE}), "
        f"count(*) FILTER (WHERE {number} >= {border!r} AND abs({number}) <= {LARGEST_DOUBLE}) FROM {{t}}"
    )[0]
    conversion = _conversion(low, high) if low[0] < low[2] and high[0] < high[2] else None
    if conversion is None:
        return None
    factor, offset = conversion
    return TwoScales(
        factor=factor, offset=offset, low=low[1], high=high[1], low_count=int(low_count), high_count=int(high_count)
    )


def _conversion(low: list[float], high: list[float]) -> tuple[float, float] | None:
    """The conversion that takes the lower heap to the upper one, by their deciles and medians."""
    width = high[2] - high[0]
    for factor, offset in _AFFINE:
        own = factor * (low[2] - low[0])
        if abs(factor * low[1] + offset - high[1]) <= 0.25 * width and 0.7 <= width / own <= 1.4:
            return factor, offset
    unit = next((known for known in _FACTORS if abs(high[1] / low[1] / known - 1) < 0.1), None)
    # Heaps that are but a line each have no shape to compare.
    if unit is None or low[2] / low[0] < _NARROW:
        return None
    alike = all(abs(low[i] * unit / high[i] - 1) < 0.2 for i in (0, 2))
    return (unit, 0.0) if alike else None


def _overlapping(bins: list[tuple[int, int]], total: int) -> TwoScales | None:
    """Two heaps that run into each other, with a dip between: one distribution twice, the second time multiplied."""
    first, last = bins[0][0], bins[-1][0]
    if total < _FEWEST_OVERLAPPING or last - first > _LONGEST:
        return None
    counts = np.zeros(last - first + 1)
    counts[[b - first for b, _ in bins]] = [n for _, n in bins]
    found = []
    for factor in _FACTORS:
        shift = round(_PER_DECADE * math.log10(factor))
        if (fitted := _fitted(counts, shift)) is not None:
            found.append((fitted[0], factor, *fitted[1:]))
    if not found:
        return None
    _, factor, share, middle = min(found)
    low = 10 ** ((first + middle + 0.5) / _PER_DECADE)
    high_count = round(share * total)
    return TwoScales(
        factor=factor,
        low=low,
        high=low * factor,
        low_count=total - high_count,
        high_count=high_count,
        overlapping=True,
    )


def _fitted(counts: Any, shift: int) -> tuple[float, float, int] | None:
    """How unlike the two heaps are after conversion, the share of the upper one, and the middle of the lower one."""
    total = counts.sum()
    dip = _dip(counts, shift)
    if dip is None:
        return None
    padded = np.concatenate([counts, np.zeros(shift)])
    lower = np.where(np.arange(len(padded)) < dip, padded, 0.0)
    share = 1 - lower.sum() / total
    # Nothing is impossible: what neither heap explains would be lost to both.
    shape = lower / lower.sum() + _UNLIKELY
    for _ in range(_ROUNDS):
        moved = np.concatenate([np.zeros(shift), shape[:-shift]])
        parts = (1 - share) * shape, share * moved
        lower = padded * parts[0] / (parts[0] + parts[1])
        upper = padded - lower
        share = upper.sum() / total
        both = lower + np.concatenate([upper[shift:], np.zeros(shift)])
        shape = both / both.sum() + _UNLIKELY
    sizes = total * (1 - share), total * share
    if min(sizes) < max(_SMALLER, _SMALLER_SHARE * total):
        return None
    if max(lower[dip:].sum() / sizes[0], (padded - lower)[:dip].sum() / sizes[1]) > _BESIDE:
        return None
    below, above = (np.cumsum(part) / part.sum() for part in (lower, np.roll(padded - lower, -shift)))
    unlike = float(np.abs(below - above).max())
    if unlike > max(_ALIKE, 1.2 * math.sqrt(1 / sizes[0] + 1 / sizes[1])):
        return None
    return unlike, float(share), int(np.searchsorted(below, 0.5))


def _dip(counts: Any, shift: int) -> int | None:
    """Where the density is lowest between two heights that are about a shift apart; None without a real dip."""
    width = max(1.0, shift / 8)
    reach = np.arange(-int(3 * width), int(3 * width) + 1)
    kernel = np.exp(-0.5 * (reach / width) ** 2)
    smooth = np.convolve(counts, kernel / kernel.sum(), mode="same") if len(counts) >= len(kernel) else counts
    top = int(smooth.argmax())
    slack = max(1, shift // 5)
    near = [(top - shift - slack, top - shift + slack + 1), (top + shift - slack, top + shift + slack + 1)]
    others = [a + int(smooth[a:b].argmax()) for a, b in ((max(0, a), b) for a, b in near) if smooth[a:b].size]
    if not others:
        return None
    other = max(others, key=lambda at: smooth[at])
    low, high = sorted((top, other))
    at = low + int(smooth[low : high + 1].argmin())
    is_deep = smooth[at] <= _DIP * min(smooth[low], smooth[high])
    # Few different values make heights and dips of their own.
    kinds = min(int(np.count_nonzero(part)) for part in (counts[:at], counts[at:]))
    return at if is_deep and kinds >= _FEWEST_KINDS else None
