"""What is wrong with an array of data: codes for missing values, numbers that float32 cannot tell apart, full types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torchmedic.facts import HeldCode, HeldColumn, HeldTable, SmallField
from torchmedic.probes.data.held_arrays import Array, Held
from torchmedic.probes.data.missing_codes import codes_in
from torchmedic.probes.data.statistics_lines import statistics_line
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.making_lines import line_made, line_with

_MOST_VALUES = 2_000_000
_MOST_COLUMNS = 300
_LEAST_ROWS = 50
_LEAST_GAP = 3.0
_MOST_CODED = 0.5
_LARGE = 2.0**24
_EQUAL, _NEXT = 0.5, 0.8
_MOST_STEPS = 256  # of float32 from the least to the largest: what lies further apart is told apart well enough
_FULL = 0.9
_SMALL = {"uint8": 255, "int8": 127}
_FLOAT_WORDS = ("float32", "FloatTensor", "torch.float", "np.single")


def facts_of(held: Held, others: list[Held], step: int) -> Iterator[HeldCode | HeldColumn | HeldTable | SmallField]:
    """What a table of floats looks like, and everything that is strange about an array."""
    yield from _table(held, step)
    if held.dtype in ("float16", "float32", "float64"):
        yield from _codes(held, others, step)
    if held.dtype == "float32":
        yield from fallen_together(held, step)
    if held.dtype in _SMALL and held.of_rows and held.array.ndim == 1:
        yield from _full_type(held, step)


def _table(held: Held, step: int) -> Iterator[HeldTable]:
    made = line_made(held.made)
    if made is None or not held.dtype.startswith("float") or held.array.ndim != 2:
        return
    if 1 < held.array.shape[1] <= _MOST_COLUMNS:
        values = held.rows(_MOST_VALUES, is_spread=True).astype(np.float64)
        means, spreads = values.mean(0), values.std(0)
        if np.isfinite(spreads).all():
            columns = tuple(means.tolist()), tuple(spreads.tolist())
            labels = held.labels.get(len(means), ())
            yield HeldTable(step=step, name=held.name, labels=labels, means=columns[0], spreads=columns[1], made=made)


# -- codes for missing values ------------------------------------------------------------------------------------


class _Code(NamedTuple):
    column: int
    columns: int
    value: float
    times: int
    total: int
    low: float
    high: float
    gap: float


def _codes(held: Held, others: list[Held], step: int) -> Iterator[HeldCode]:
    values = held.rows(_MOST_VALUES // 4, is_spread=True)
    by_axis = [list(_codes_along(values, axis)) for axis in _column_axes(values)]
    # Columns are told by it: along the right axis few hold the code, along the others all do.
    fewest = min((codes for codes in by_axis if codes), key=lambda codes: len(codes) / codes[0].columns, default=[])
    code = max(fewest, key=lambda one: one.gap, default=None)
    if code is None or _is_padding(values == code.value) or any(_tells(other, held, code.value) for other in others):
        return
    yield HeldCode(
        step=step,
        name=held.name,
        label=held.label(code.column, code.columns),
        **code._asdict(),
        made=line_made(held.made),
        computed=statistics_line(held.word, held.owner, held.made),
    )


def _column_axes(values: Array) -> list[int]:
    """The axes that columns (or channels) may lie along."""
    axes = [] if values.ndim == 1 else [1] if values.ndim == 2 else [values.ndim - 1, 1]
    return [axis for axis in axes if values.shape[axis] <= _MOST_COLUMNS] or ([-1] if values.ndim == 1 else [])


def _codes_along(values: Array, axis: int) -> Iterator[_Code]:
    columns = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1) if axis > 0 else values[None]
    for number, column in enumerate(columns):
        finite = column[np.isfinite(column)].astype(np.float64)
        for value, share in codes_in(finite):
            rest = finite[finite != value]
            low, high = float(rest.min()), float(rest.max())
            gap = (low - value if value < low else value - high) / max(high - low, 1e-300)
            if gap >= _LEAST_GAP and share <= _MOST_CODED:
                times = int(finite.size - rest.size)
                yield _Code(number, len(columns), value, times, int(finite.size), low, high, gap)


def _is_padding(places: Array) -> bool:
    """Whether a number fills rows up to one length, at their ends: it is there by intention, and masked elsewhere."""
    if places.ndim > 2 and bool((places.all(-1) == places.any(-1)).all()):
        return True
    for axis in range(1, places.ndim):
        for run in (places, np.flip(places, axis)):
            lengths = run.sum(axis)
            from_begin = np.logical_and.accumulate(run, axis).sum(axis)
            if bool((lengths == from_begin).all()) and len(np.unique(lengths[lengths > 0])) > 1:
                return True
    return False


def _tells(other: Held, held: Held, value: float) -> bool:
    """Whether another array is a mask of the places where a number stands."""
    shape = tuple(other.array.shape)
    if other.array is held.array or shape not in (tuple(held.array.shape), tuple(held.array.shape[:-1])):
        return False
    mask = np.asarray(other.rows(_MOST_VALUES))
    values = held.rows(_MOST_VALUES)[: len(mask)]
    mask = mask[: len(values)]
    places = values == value if mask.ndim == values.ndim else (values == value).any(-1)
    if not places.any() or places.all() or len(np.unique(mask[:1000])) > 2:
        return False
    at, elsewhere = np.unique(mask[places]), mask[~places]
    return len(at) == 1 and float((elsewhere != at[0]).mean()) > 0.9


# -- numbers that float32 cannot tell apart ----------------------------------------------------------------------


class _Merged(NamedTuple):
    column: int
    columns: int
    spacing: float
    width: float
    equal: int
    pairs: int
    along: str


def fallen_together(held: Held, step: int) -> Iterator[HeldColumn]:
    """A column of large numbers most of which float32 has made equal to their neighbours."""
    values = held.rows(_MOST_VALUES)
    if values.ndim > 3 or (values.ndim > 1 and values.shape[-1] > _MOST_COLUMNS):
        return
    found = (seen for column, columns, part in _parts(values) for seen in _merged(column, columns, part))
    seen = next(found, None)
    if seen is not None:
        yield HeldColumn(
            step=step,
            name=held.name,
            label=held.label(seen.column, seen.columns),
            **seen._asdict(),
            size=float(np.median(np.abs(values[..., seen.column] if seen.columns > 1 else values))),
            made=line_made(held.made),
            cast=line_with(held.made, makes_float32),
        )


def _parts(values: Array) -> Iterator[tuple[int, int, Array]]:
    """The columns along the last axis, and a table as a whole: its columns may be the steps of a sequence."""
    if values.ndim > 1:
        yield from ((number, values.shape[-1], values[..., number]) for number in range(values.shape[-1]))
    if values.ndim < 3:
        yield 0, 1, values


def _merged(column: int, columns: int, values: Array) -> Iterator[_Merged]:
    """Most neighbours are equal, and where one differs from the next it is by the least that float32 can."""
    size = float(np.median(np.abs(values)))
    if not (np.isfinite(size) and size >= _LARGE):
        return
    spacing = float(np.spacing(np.float32(size)))
    wide = values.astype(np.float64)
    orders = [("rows", wide)] if wide.ndim == 1 else [("steps", wide.swapaxes(0, 1))]
    orders += [("sorted", np.sort(wide))] if wide.ndim == 1 else []
    for along, ordered in orders:
        width = float(np.median(np.ptp(ordered, axis=0)))
        steps = np.abs(np.diff(ordered, axis=0)).ravel()
        other = steps[steps > 0]
        if steps.size < _LEAST_ROWS or other.size < 2 or width > _MOST_STEPS * spacing:
            continue
        if 1 - other.size / steps.size >= _EQUAL and float((other <= 2 * spacing).mean()) >= _NEXT:
            equal = int(steps.size - other.size)
            yield _Merged(column, columns, spacing, width, equal, int(steps.size), along)


def makes_float32(node: ast.AST) -> bool:
    """Whether a call gives floats of 32 bits, by what it is given or by its name.

    >>> [makes_float32(ast.parse(t, mode="eval").body) for t in ("x.float()", "x.astype(np.float32)", "x.double()")]
    [True, True, False]
    """
    if not isinstance(node, ast.Call):
        return False
    name = called_name(node)
    given = [ast.unparse(a) for a in (*node.args, *(k.value for k in node.keywords))]
    if name in ("astype", "to", "type", "tensor", "as_tensor", "array", "asarray", "to_numpy"):
        if any(text.strip("'\"").endswith(_FLOAT_WORDS) for text in given):
            return True
        return name == "tensor" and not any(k.arg == "dtype" for k in node.keywords)
    return name in ("float", "FloatTensor", "Tensor", "float32") and ast.unparse(node.func) != "float"


# -- types that are full -----------------------------------------------------------------------------------------


def _full_type(held: Held, step: int) -> Iterator[SmallField]:
    values = held.rows(_MOST_VALUES).astype(np.int64)
    highest = _SMALL[held.dtype]
    distinct, largest = len(np.unique(values)), int(values.max())
    if distinct < _FULL * (highest + 1) or largest < _FULL * highest:
        return
    yield SmallField(
        step=step,
        name=held.name,
        dtype=held.dtype,
        rows=len(held.array),
        distinct=distinct,
        largest=largest,
        highest=highest,
        made=line_made(held.made),
        cast=line_with(held.made, lambda node: _names_type(node, held.dtype)),
    )


def _names_type(node: ast.AST, dtype: str) -> bool:
    """`np.uint8`, `torch.uint8`, `"uint8"`, `.byte()`: how a type is chosen."""
    if isinstance(node, ast.Attribute):
        return node.attr in {"uint8": ("uint8", "byte", "ubyte", "ByteTensor"), "int8": ("int8", "CharTensor")}[dtype]
    return isinstance(node, ast.Constant) and node.value == dtype
