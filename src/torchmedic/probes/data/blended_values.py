"""Maps of class numbers before and after an operation on images: does it give numbers that were not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from torchmedic.facts import Location
from torchmedic.late import late_dataclass

Array = np.ndarray[Any, Any]
_LEAST_SIDE = 4
_MOST_SIZE = 20_000_000
_SAMPLED = 4096
_MOST_CLASSES = 64
_LEAST_WITHIN = 8


@late_dataclass(frozen=True)
class Blend:
    """One call that gave numbers which its argument did not have.

    `after` counts the numbers of the result, once as a cast to integers leaves them and once as rounding does.
    """

    where: Location
    text: str
    library: str
    function: str
    filter: str
    is_default: bool
    before: frozenset[int]
    after: tuple[Counter[int], ...]
    size: int


def blended(given: Any, result: Any) -> tuple[frozenset[int], tuple[Counter[int], ...]] | None:
    """The numbers of a map of few whole numbers, and those of what was made of it, where there are new ones."""
    before = _classes(given)
    made = _values(result) if before is not None else None
    if before is None or made is None:
        return None
    after = (_counted(np.trunc(made)), _counted(np.rint(made)))
    return (before, after) if any(set(counts) - before for counts in after) else None


def is_map(values: Array) -> bool:
    """Whether whole numbers lie in a plane: a sample's map of labels."""
    plane = [side for side in values.shape if side != 1]
    return values.dtype.kind in "iu" and len(plane) == 2 and min(plane) >= _LEAST_SIDE


def invented(blend: Blend, labels: Array) -> tuple[int, ...]:
    """Numbers that a call put into a map of labels; none where the map did not come from it.

    A map that was turned or mirrored since then has the same numbers as often; one that was clamped, but for its ends.
    """
    values, counts = np.unique(labels, return_counts=True)
    if labels.size != blend.size or not 1 < len(values) <= 4 * _MOST_CLASSES:
        return ()
    found = {int(v): int(n) for v, n in zip(values, counts, strict=True)}
    within = {v: n for v, n in found.items() if int(values[0]) < v < int(values[-1])}
    if not any(found == after for after in blend.after):
        is_same = any(_within(after, *map(int, values[[0, -1]])) == within for after in blend.after)
        if not is_same or sum(n for v, n in within.items() if v not in blend.before) < _LEAST_WITHIN:
            return ()
    return tuple(sorted(set(found) - blend.before))


def _within(counts: Counter[int], low: int, high: int) -> dict[int, int]:
    return {value: count for value, count in counts.items() if low < value < high}


def array_of(thing: Any) -> Array | None:
    """An image of PIL's, an array or a tensor as numbers, where that is cheap."""
    if isinstance(thing, torch.Tensor):
        is_plain = thing.layout == torch.strided and thing.device.type == "cpu" and not thing.requires_grad
        return thing.detach().numpy() if is_plain and thing.dtype != torch.bfloat16 else None
    if getattr(type(thing), "__module__", "").startswith("PIL.") and getattr(thing, "mode", "")[:1] in ("L", "I", "P"):
        return np.asarray(thing) if thing.mode not in ("LA", "PA") else None
    return thing if type(thing) is np.ndarray else None


def maps_in(sample: Any, name: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays of a sample, or of a batch, with their keys."""
    if isinstance(sample, dict):
        parts: list[tuple[Any, Any]] = list(sample.items())
    else:
        parts = list(enumerate(sample[:16])) if isinstance(sample, (list, tuple)) else []
    for key, value in parts:
        values = array_of(value)
        if values is not None and values.ndim > 1:
            yield (f"{name}[{key!r}]", values)


def _values(thing: Any) -> Array | None:
    values = array_of(thing)
    is_number = values is not None and values.dtype.kind in "iuf" and 0 < values.size <= _MOST_SIZE
    if values is None or not is_number or min((n for n in values.shape if n != 1), default=0) < _LEAST_SIDE:
        return None
    return values if bool(np.isfinite(values).all()) else None


def _classes(thing: Any) -> frozenset[int] | None:
    """The numbers of a map of labels: few of them, all whole."""
    values = _values(thing)
    if values is None or len([n for n in values.shape if n != 1]) != 2:
        return None
    some = values.ravel()[:: max(1, values.size // _SAMPLED)]
    if len(np.unique(some)) > _MOST_CLASSES or not bool((np.trunc(some) == some).all()):
        return None
    found = np.unique(values)
    fits = 1 < len(found) <= _MOST_CLASSES and bool((np.trunc(found) == found).all())
    return frozenset(int(one) for one in found) if fits else None


def _counted(values: Array) -> Counter[int]:
    numbers, counts = np.unique(values, return_counts=True)
    return Counter({int(v): int(n) for v, n in zip(numbers, counts, strict=True)})
