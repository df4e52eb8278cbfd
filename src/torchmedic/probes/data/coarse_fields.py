"""Arrays of a training that have suspiciously few different numbers, and the functions that made them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

import numpy as np

from torchmedic.facts import CoarseField
from torchmedic.probes.data.held_arrays import Array, Held
from torchmedic.probes.data.held_checks import makes_float32
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import shown_path
from torchmedic.probes.source.making_lines import places_behind
from torchmedic.probes.source.sources import user_nodes

_MOST_VALUES = 200_000
_LEAST_VALUES = 500
_FEW = 16
_MOST_COLUMNS = 64
_MARKS = 16  # whole numbers below this are kinds, flags and counts
_DIFFERENCES = ("diff", "ediff1d", "sub", "subtract")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def coarse_fields(arrays: list[Held], step: int) -> Iterator[CoarseField]:
    """What differences of numbers that float32 cannot tell apart would look like."""
    for held in (one for one in arrays if one.dtype in ("float32", "float64") and one.array.ndim <= 3):
        columns = _columns(held.rows(_MOST_VALUES))
        coarse = next((found for found in map(_coarse, columns) if found is not None), None)
        functions = _functions_behind(held) if coarse is not None else ()
        if coarse is not None and functions:
            yield CoarseField(step=step, name=held.name, distinct=coarse[0], count=coarse[1], functions=functions)
            return


def _columns(values: Array) -> Iterator[Array]:
    """An array as a whole, and its columns along the last axis."""
    yield values.ravel()
    if values.ndim > 1 and values.shape[-1] <= _MOST_COLUMNS:
        yield from (values[..., at].ravel() for at in range(values.shape[-1]))


def _coarse(values: Array) -> tuple[int, int] | None:
    """How many different numbers a column has, where that is few for what is neither kinds nor flags."""
    if values.size < _LEAST_VALUES or not np.isfinite(values).all():
        return None
    found = np.unique(values)
    is_mark = bool((np.trunc(found) == found).all()) and float(np.abs(found).max()) < _MARKS
    # A flag that was standardised with the other columns; of two differences, one would be 0.
    is_scaled_flag = len(found) == 2 and not (found == 0).any()
    return (len(found), values.size) if 2 <= len(found) <= _FEW and not is_mark and not is_scaled_flag else None


def _functions_behind(held: Held) -> tuple[str, ...]:
    """The user's functions on the way of an array, where one casts to float32 and one takes differences."""
    places = list(places_behind(held.made))
    found = [(place.file, place.scope) for place in places if isinstance(place.scope, _FUNCTIONS)]
    called = {called_name(place.value) for place in places if isinstance(place.value, ast.Call)}
    found += [(file, m) for file, node in user_nodes() if _is_class(node, called) for m in _methods(node)]
    nodes = [node for _, function in found for node in ast.walk(function)]
    if not any(makes_float32(node) for node in nodes) or not any(_subtracts(node) for node in nodes):
        return ()
    return tuple(dict.fromkeys(f"{shown_path(file)}:{_begin(function)}" for file, function in found))


def _is_class(node: ast.AST, names: set[str]) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and node.name in names


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [method for method in node.body if isinstance(method, _FUNCTIONS)]


def _subtracts(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and called_name(node) in _DIFFERENCES
    return is_call or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub))


def _begin(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
