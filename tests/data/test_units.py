"""Columns in two units: with a gap, with an offset, overlapping; and heaps that are only two kinds of thing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from torchmedic.checkups.data.objects import check_object
from torchmedic.checkups.data.options import Options
from torchmedic.facts import TableColumn, TwoScales

RNG = np.random.default_rng(0)
SIZE = 4000
SOME = RNG.random(SIZE) < 0.3
WEIGHT = RNG.normal(75, 12, SIZE).clip(35)
WARMTH = RNG.normal(37, 0.5, SIZE)
GLUCOSE = RNG.lognormal(np.log(5.5), 0.25, SIZE)


def _scales(values: np.ndarray) -> TwoScales | None:
    frame = pd.DataFrame({"v": values, "other": RNG.random(len(values))})
    seen = check_object(frame, Options(), None).seen
    return next(fact.two_scales for fact in seen if isinstance(fact, TableColumn) and fact.column == "v")


@pytest.mark.parametrize(
    ("values", "factor", "offset", "overlapping"),
    [
        (np.where(SOME, WEIGHT * 2.2046, WEIGHT).round(1), 2.2046, 0.0, True),
        (np.where(SOME, WARMTH * 1.8 + 32, WARMTH).round(1), 1.8, 32.0, False),
        (np.where(SOME, WARMTH + 273.15, WARMTH).round(1), 1.0, 273.15, False),
        (np.where(SOME, GLUCOSE * 18.016, GLUCOSE).round(1), 18.016, 0.0, False),
    ],
    ids=["pounds among kilograms", "Fahrenheit", "kelvin", "glucose"],
)
def test_two_units_are_told_with_their_conversion(
    values: np.ndarray, factor: float, offset: float, overlapping: bool
) -> None:
    found = _scales(values)
    assert found is not None
    assert (found.factor, found.offset, found.overlapping) == (factor, offset, overlapping)
    assert abs(found.high_count - SOME.sum()) < 0.05 * SIZE
    assert found.low == pytest.approx(np.median(values[~SOME]), rel=0.03)


HEALTHY = {
    "men and women": np.where(SOME, RNG.normal(178, 7, SIZE), RNG.normal(165, 6, SIZE)),
    "town and motorway": np.where(SOME, RNG.normal(120, 10, SIZE), RNG.normal(50, 5, SIZE)),
    "a narrow and a wide heap": np.where(SOME, RNG.exponential(1, SIZE), RNG.normal(60, 5, SIZE)),
    "two wavelengths": np.where(SOME, RNG.normal(650, 5, SIZE), RNG.normal(450, 5, SIZE)),
    "money": RNG.lognormal(3, 2, SIZE),
    "few whole numbers": RNG.integers(1, 12, SIZE).astype(float),
    "prices": RNG.lognormal(3, 1, SIZE).round() + 0.99,
    "decades": 10 ** RNG.uniform(-6, 6, SIZE),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_two_kinds_of_thing_are_no_two_units(name: str) -> None:
    assert _scales(HEALTHY[name]) is None
