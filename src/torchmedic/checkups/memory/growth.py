"""How memory grows with a size: a law for each phase, the largest of them counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NEGLIGIBLE = 0.01


@dataclass(frozen=True)
class Law:
    """bytes = constant + linear x size + quadratic x size squared."""

    constant: float
    linear: float
    quadratic: float

    def at(self, size: float) -> float:
        return self.constant + self.linear * size + self.quadratic * size * size


@dataclass(frozen=True)
class Growth:
    """The laws of all phases; the peak is the largest of them."""

    laws: Mapping[str, Law]

    def at(self, size: float) -> float:
        return max(law.at(size) for law in self.laws.values())

    def phase_at(self, size: float) -> str:
        return max(self.laws, key=lambda phase: self.laws[phase].at(size))

    def largest_below(self, limit: float, start: int) -> int:
        """The largest whole size whose peak stays within the limit (0 when none does)."""
        if self.at(1) > limit:
            return 0
        high = max(start, 1)
        while self.at(high) <= limit and high < 1 << 40:
            high *= 2
        low = 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.at(middle) <= limit else (low, middle)
        return low


def largest_scale(terms: Sequence[tuple[int, float]], limit: float) -> float:
    """By how much sizes may be multiplied until terms of these powers reach the limit together.

    >>> round(largest_scale([(0, 100), (1, 200), (2, 100)], 900), 3)
    2.0
    """
    low, high = 0.0, 1.0
    while sum(value * high**power for power, value in terms) <= limit and high < 1e6:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        fits = sum(value * middle**power for power, value in terms) <= limit
        low, high = (middle, high) if fits else (low, middle)
    return low


def fit(sizes: Sequence[float], peaks: Sequence[Mapping[str, int]]) -> Growth:
    """Fit every phase that was seen at all sizes.

    >>> growth = fit([1, 2, 4], [{"backward": 110}, {"backward": 120}, {"backward": 140}])
    >>> round(growth.at(10))
    200
    """
    phases = set.intersection(*(set(peak) for peak in peaks))
    return Growth({phase: _fit_one(sizes, [peak[phase] for peak in peaks]) for phase in sorted(phases)})


def _fit_one(sizes: Sequence[float], values: Sequence[int]) -> Law:
    """A line where it explains the points to a hundredth, otherwise a parabola that does not bend downwards."""
    straight = _line(sizes, values)
    if len(sizes) < 3 or _worst(straight, sizes, values) <= _NEGLIGIBLE * max(values):
        return straight
    curved = _parabola(sizes, values)
    return curved if curved.quadratic > 0 else straight


def _worst(law: Law, sizes: Sequence[float], values: Sequence[int]) -> float:
    return max(abs(law.at(size) - value) for size, value in zip(sizes, values, strict=True))


def _line(sizes: Sequence[float], values: Sequence[float]) -> Law:
    count, mean_x, mean_y = len(sizes), sum(sizes) / len(sizes), sum(values) / len(sizes)
    spread = sum((x - mean_x) ** 2 for x in sizes)
    if count < 2 or spread == 0:
        return Law(mean_y, 0.0, 0.0)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(sizes, values, strict=True)) / spread
    return Law(mean_y - slope * mean_x, slope, 0.0)


def _parabola(sizes: Sequence[float], values: Sequence[float]) -> Law:
    """Least squares of degree two, by the normal equations on scaled sizes."""
    scale = max(sizes)
    xs = [size / scale for size in sizes]
    rows = [[sum(x ** (i + j) for x in xs) for j in range(3)] for i in range(3)]
    right = [sum(y * x**i for x, y in zip(xs, values, strict=True)) for i in range(3)]
    a, b, c = _solve(rows, right)
    return Law(a, b / scale, c / scale**2)


def _solve(rows: list[list[float]], right: list[float]) -> list[float]:
    size = len(right)
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda r: abs(table[r][column]))
        table[column], table[pivot] = table[pivot], table[column]
        for row in range(size):
            if row != column:
                factor = table[row][column] / table[column][column]
                table[row] = [x - factor * y for x, y in zip(table[row], table[column], strict=True)]
    return [table[i][size] / table[i][i] for i in range(size)]
