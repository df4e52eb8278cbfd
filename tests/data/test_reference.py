"""The statistics against a brute-force reference in NumPy: NaN, infinity, missing values and ties included."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmedic.checkups.data.arrays import array_facts
from torchmedic.checkups.data.hashes import repeated_hashes
from torchmedic.checkups.data.objects import check_object
from torchmedic.checkups.data.options import Options
from torchmedic.facts import ArraySeen, Observation, RepeatedRows, SpreadByGroup, TableColumn

_CELL = st.one_of(
    st.none(),
    st.sampled_from([0.0, -0.0, 1.0, 97.7, 12.34, 65504.0, 65505.0, math.nan, math.inf, -math.inf, 1e-9, 3e38]),
    st.floats(-1e6, 1e6),
)
_ROWS = st.lists(st.tuples(st.integers(0, 4), _CELL), min_size=2, max_size=60)


def _facts(rows: list[tuple[int, float | None]]) -> list[Observation]:
    table = pyarrow.table(
        {"key": [key for key, _ in rows], "x": pyarrow.array([x for _, x in rows], pyarrow.float64())}
    )
    return check_object(table, Options(group_by=("key",)), None).seen


@settings(max_examples=20)
@given(_ROWS)
def test_counts_and_moments_are_those_of_numpy(rows: list[tuple[int, float | None]]) -> None:
    column = next(f for f in _facts(rows) if isinstance(f, TableColumn) and f.column == "x")
    present = np.array([x for _, x in rows if x is not None], dtype=np.float64)
    finite = present[np.isfinite(present)]
    assert column.nulls == sum(x is None for _, x in rows)
    assert column.nan == np.isnan(present).sum()
    assert column.inf == np.isinf(present).sum()
    assert column.finite == len(finite)
    assert column.beyond_half == (np.abs(finite) > 65504).sum()
    if len(finite):
        assert (column.minimum, column.maximum) == (finite.min(), finite.max())
        assert column.mean is not None
        assert math.isclose(column.mean, finite.mean(), rel_tol=1e-9, abs_tol=1e-9 * np.abs(finite).max())
    if len(finite) > 1:
        assert column.std is not None
        assert math.isclose(column.std, finite.std(ddof=1), rel_tol=1e-6, abs_tol=1e-9 * np.abs(finite).max())


@settings(max_examples=20)
@given(_ROWS)
def test_constant_groups_are_those_of_a_loop(rows: list[tuple[int, float | None]]) -> None:
    spread = next(f for f in _facts(rows) if isinstance(f, SpreadByGroup) and f.column == "x")
    groups: dict[int, list[float]] = {}
    for key, x in rows:
        groups.setdefault(key, [])
        if x is not None and math.isfinite(x):
            groups[key].append(x)
    flat = {str(key) for key, values in groups.items() if len(values) > 1 and min(values) == max(values)}
    assert {group.key for group in spread.constant} == flat
    assert spread.single == sum(len(values) == 1 for values in groups.values())
    assert spread.groups == len(groups)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=40))
def test_repeats_and_conflicts_are_those_of_pandas(rows: list[tuple[int, int, int]]) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b", "label"])
    seen = next((f for f in check_object(frame, Options(), None).seen if isinstance(f, RepeatedRows)), None)
    repeats = int(frame.duplicated().sum())
    labels = frame.groupby(["a", "b"]).label.transform("nunique")
    conflicting = int((labels > 1).sum())
    assert (seen.repeats if seen else 0, seen.conflicting if seen else 0) == (repeats, conflicting)


@settings(max_examples=20)
@given(st.lists(st.tuples(_CELL, st.lists(_CELL, max_size=3), st.integers(0, 1)), min_size=2, max_size=30))
def test_rows_with_lists_repeat_where_all_their_cells_do(rows: list[tuple[Any, list[Any], int]]) -> None:
    doubled = [*rows, *rows[:2]]
    listed = pyarrow.array([list(cells) for _, cells, _ in doubled], pyarrow.list_(pyarrow.float64()))
    number = pyarrow.array([x for x, _, _ in doubled], pyarrow.float64())
    table = pyarrow.table({"x": number, "v": listed, "label": [label for _, _, label in doubled]})
    facts = check_object(table, Options(), None).seen
    seen = next((f for f in facts if isinstance(f, RepeatedRows)), None)
    # NaN equals NaN here, and 0.0 equals -0.0.
    keys = [(_known(x), tuple(map(_known, cells)), label) for x, cells, label in doubled]
    assert (seen.repeats if seen else 0) == len(keys) - len(set(keys))
    column = next(f for f in facts if isinstance(f, TableColumn) and f.column == "v")
    bad = [sum(x is None or not math.isfinite(x) for x in cells) for _, cells, _ in doubled]
    assert (column.bad_lists, column.bad_elements) == (sum(map(bool, bad)), sum(bad))


def _known(x: float | None) -> object:
    return "missing" if x is None else "nan" if x != x else x + 0.0


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.data())
def test_arrays_are_counted_as_numpy_counts_them(items: int, height: int, width: int, data: st.DataObject) -> None:
    cells = data.draw(st.lists(_CELL, min_size=items * height * width, max_size=items * height * width))
    array = np.array([math.nan if x is None else x for x in cells]).reshape(items, height, width)
    listed: list[tuple[Any, ...]] = []
    seen = next(f for f in array_facts("s", "x", array, listing=lambda *place: listed.append(place)))
    assert isinstance(seen, ArraySeen)
    finite = array[np.isfinite(array)]
    assert (seen.nan, seen.inf) == (np.isnan(array).sum(), np.isinf(array).sum())
    assert (seen.minimum, seen.maximum) == ((finite.min(), finite.max()) if finite.size else (None, None))
    assert seen.beyond_half == (np.abs(finite) > 65504).sum()
    flat = [i for i, item in enumerate(array) if item.size >= 4 and (item == item.flat[0]).all()]
    assert (seen.flat, list(seen.flat_items)) == (len(flat), flat[:5])
    troubles = [trouble for _, _, _, trouble, _ in listed]
    assert {kind: troubles.count(kind) for kind in ("nan", "inf", "single-value")} == {
        "nan": seen.nan,
        "inf": seen.inf,
        "single-value": len(flat),
    }


@settings(max_examples=25)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=300), st.integers(1, 100))
def test_repeats_are_counted_in_any_number_of_parts(values: list[int], room: int) -> None:
    connection = duckdb.connect()
    connection.register("numbers", pyarrow.table({"v": values}))
    again, hashes = repeated_hashes(connection, "SELECT hash(v) AS h FROM numbers", len(values), 8 * room)
    unique, times = np.unique(values, return_counts=True)
    # Of very many parts a clean first one ends the search.
    if again or -(-len(values) // room) <= 4:
        assert again == len(values) - len(unique)
        assert len(np.unique(hashes)) == (times > 1).sum()
