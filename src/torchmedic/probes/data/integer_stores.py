"""Whether data were computed as fractions and put, one by one, into an array of whole numbers, which cuts them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from torchmedic.facts import CutStores, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.data.cut_fields import INTEGERS, ROUNDING
from torchmedic.probes.data.held_arrays import Array, Held
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.making_lines import Place, own_nodes, places_behind

_MOST_VALUES = 200_000
_MOST_COLUMNS = 300
_MANY, _FEW, _TIMES = 20, 12, 5  # different numbers in a column: before, after, and how many times fewer
_OTHER = 0.005  # rows that differ in a column that is as good as constant
_LIKE = frozenset(("zeros_like", "empty_like", "ones_like", "full_like"))
_MAKERS = frozenset(("zeros", "empty", "ones", "full", "array", "asarray", "astype", "copy"))
_FRACTIONS = frozenset(("log", "log1p", "log2", "log10", "sqrt", "exp", "tanh"))


@late_dataclass(frozen=True)
class _Store:
    """The array of a name, the line that makes it and the one that puts fractions into it."""

    name: str
    text: str
    made: Location
    stored: Location
    is_typed: bool  # the type is said or taken over where it is made: it is no array of floats by default


def integer_stores(arrays: list[Held], step: int) -> Iterator[CutStores]:
    """Tables of whole numbers whose source puts the results of a division into an array made like another."""
    for held in (one for one in arrays if one.array.ndim > 1 and one.dtype != "bool"):
        after = held.rows(_MOST_VALUES)
        if not np.isfinite(after).all() or not (np.trunc(after) == after).all():
            continue
        store = _store_behind(held.made)
        if store is None:
            continue
        few = _distinct(after)
        source = next((one for one in arrays if one.array is not held.array and _is_richer(one, held, few)), None)
        if (source is not None and few <= _FEW) or (store.is_typed and _is_constant(after)):
            yield CutStores(
                step=step,
                name=held.name,
                array=store.name,
                text=store.text,
                source=source.name if source is not None else "",
                dtype=source.dtype if source is not None else "",
                before=_distinct(source.rows(_MOST_VALUES)) if source is not None else None,
                after=few,
                zeros=float((after == 0).mean()),
                made=store.made,
                stored=store.stored,
            )
            return


def _columns(values: Array) -> Array:
    return values if values.ndim == 2 and values.shape[1] <= _MOST_COLUMNS else values.reshape(-1, 1)


def _distinct(values: Array) -> int:
    """How many different numbers a column has, as a rule."""
    return int(np.median([len(np.unique(column)) for column in _columns(values).T]))


def _is_richer(source: Held, held: Held, few: int) -> bool:
    """Whether an array of whole numbers has the same columns, and many more numbers in them."""
    if source.dtype not in ("int64", "int32", "int16", "uint8", "uint16") or source.array.ndim < 2:
        return False
    if tuple(source.array.shape[1:]) != tuple(held.array.shape[1:]) or len(source.array) < len(held.array):
        return False
    return _distinct(source.rows(_MOST_VALUES)) >= max(_MANY, _TIMES * few)


def _is_constant(values: Array) -> bool:
    """Whether (nearly) all rows of a table are the same in each of its columns."""
    if values.ndim != 2 or not 2 <= values.shape[1] <= _MOST_COLUMNS:
        return False
    most = (np.unique(column, return_counts=True)[1].max() for column in values.T)
    return all(count >= (1 - _OTHER) * len(values) for count in most)


def _store_behind(start: Place | None) -> _Store | None:
    for place in places_behind(start):
        nodes = [node for node in own_nodes(place.scope) if isinstance(node, ast.Assign)]
        names = {t.id for node in nodes if node.value is place.value for t in node.targets if isinstance(t, ast.Name)}
        for node in nodes:
            target = node.targets[0]
            base = target.value if isinstance(target, ast.Subscript) else None
            typed = _is_typed(place.value) if isinstance(base, ast.Name) and base.id in names else None
            if isinstance(base, ast.Name) and typed is not None and makes_fractions(node.value):
                text = ast.unparse(place.value)
                return _Store(base.id, text, place.location(), place.location(node.lineno), typed)
    return None


def _is_typed(value: ast.expr) -> bool | None:
    """Whether an array is made of whole numbers, or as another one is; None where it is made of floats."""
    if not isinstance(value, ast.Call) or called_name(value) not in _LIKE | _MAKERS:
        return None
    given = [ast.unparse(a).strip("'\"").rpartition(".")[2] for a in (*value.args[1:], *_dtypes(value))]
    if called_name(value) == "astype":
        given += [ast.unparse(a).strip("'\"").rpartition(".")[2] for a in value.args[:1]]
    if any(word in INTEGERS or word in ("uint8", "uint16") for word in given):
        return True
    if called_name(value) in _LIKE:
        return None if _dtypes(value) else True
    return False if called_name(value) == "copy" else None


def _dtypes(call: ast.Call) -> list[ast.expr]:
    return [given.value for given in call.keywords if given.arg == "dtype"]


def makes_fractions(value: ast.expr) -> bool:
    """Whether an expression divides, or takes a root or a logarithm, and nothing in it rounds.

    >>> texts = ("(x - low) / width", "x // 2", "np.round(x / 4)", "(x / 4).astype(int)", "np.log(x)")
    >>> [makes_fractions(ast.parse(text, mode="eval").body) for text in texts]
    [True, False, False, False, True]
    """
    calls = [called_name(node) for node in ast.walk(value) if isinstance(node, ast.Call)]
    if any(isinstance(node, (ast.Compare, ast.FloorDiv)) for node in ast.walk(value)):
        return False
    if any(name in ROUNDING or name in ("astype", "int", "long", "type", "to", "len") for name in calls):
        return False
    divides = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) for node in ast.walk(value))
    return divides or any(name in _FRACTIONS for name in calls)
