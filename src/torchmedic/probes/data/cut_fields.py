"""Whether whole numbers that a training holds are what a cast left of floats that the script holds as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from torchmedic.facts import CutField
from torchmedic.probes.data.held_arrays import Held
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.making_lines import line_made, line_with, places_behind

_MOST_VALUES = 200_000
LEAST_SHARE = 0.2
ROUNDING = frozenset(("floor", "ceil", "round", "rint", "trunc", "digitize", "bucketize", "round_", "floor_", "fix"))
_CASTS = frozenset(("long", "int", "short", "astype", "type", "to", "LongTensor", "IntTensor"))
_MAKERS = frozenset(("tensor", "as_tensor", "array", "asarray"))
INTEGERS = ("LongTensor", "IntTensor", "long", "int64", "int32", "int16", "int", "short")


def cut_fields(arrays: list[Held], step: int) -> Iterator[CutField]:
    """Of every array of whole numbers, the floats of the same form that it was cut from."""
    floats = [held for held in arrays if held.dtype in ("float32", "float64")]
    for held in arrays:
        if held.dtype not in ("int64", "int32", "int16") or _is_rounded_on_purpose(held):
            continue
        for source in (one for one in floats if tuple(one.array.shape) == tuple(held.array.shape)):
            before, after = source.rows(_MOST_VALUES), held.rows(_MOST_VALUES)
            if not np.isfinite(before).all() or not (np.trunc(before) == after).all():
                continue
            has_fraction = before != after
            if float(has_fraction.mean()) >= LEAST_SHARE:
                yield CutField(
                    step=step,
                    name=held.name,
                    source=source.name,
                    dtype=held.dtype,
                    shape=tuple(held.array.shape[1:]),
                    low=float(after.min()),
                    high=float(after.max()),
                    mean=float(after.mean()),
                    spread=float(after.std()),
                    fractions=float(has_fraction.mean()),
                    example=float(before[has_fraction][0]),
                    made=line_made(held.made),
                    cast=line_with(held.made, makes_integers),
                )
                break


def _is_rounded_on_purpose(held: Held) -> bool:
    nodes = (node for place in places_behind(held.made) for node in ast.walk(place.value))
    return any(isinstance(node, ast.Call) and called_name(node) in ROUNDING for node in nodes)


def makes_integers(node: ast.AST) -> bool:
    """Whether a call gives whole numbers, by its name or by the type that it is given.

    >>> texts = ("x.long()", "x.type(torch.LongTensor)", "x.astype(int)", "x.float()", "x.to(device)")
    >>> [makes_integers(ast.parse(text, mode="eval").body) for text in texts]
    [True, True, True, False, False]
    """
    if not isinstance(node, ast.Call) or called_name(node) not in _CASTS | _MAKERS:
        return False
    if called_name(node) in ("long", "int", "short", "LongTensor", "IntTensor"):
        return True
    given = [ast.unparse(a).strip("'\"") for a in (*node.args, *(k.value for k in node.keywords))]
    return any(text.rpartition(".")[2] in INTEGERS for text in given)
