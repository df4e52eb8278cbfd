"""Which sample each row of a collated batch came from, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

Order = tuple[int, ...]
_MOST_VALUES = 100_000
_MOST_FIELDS = 8


def orders_apart(samples: list[Any], batch: Any) -> tuple[str, str, Order] | None:
    """Two fields of the samples that a batch holds in different orders: the moved one, the other, and the order.

    None where an order is handed out beside them, so that whoever uses the batch may undo it, and where a field is
    there in several orders, as negatives are.
    """
    fields = [_fields(sample) for sample in samples]
    names = [name for name in fields[0] if all(name in field for field in fields)][:_MOST_FIELDS]
    columns = {name: [_flat(field[name]) for field in fields] for name in names}
    leaves = list(_leaves(batch, len(samples)))
    own = tuple(range(len(samples)))
    known: dict[str, set[Order]] = {}
    for name, column in columns.items():
        if not all(part is not None and len(part) > 1 for part in column):
            continue  # single numbers are counted, looked up and sorted for many reasons
        found = {order for leaf in leaves for order in [_order(leaf, column)] if order is not None}
        if found:
            known[name] = found
    moved = {name: next(iter(found)) for name, found in known.items() if len(found) == 1 and own not in found}
    for name, order in moved.items():
        if any(_tells(leaf, order) for leaf in leaves):
            return None
        for other, column in columns.items():
            if other != name and not _counts(column) and _is_in_other(leaves, column, order, own):
                return name, other, order
    return None


def _counts(column: list[Any]) -> bool:
    """Whether a field is the number of its sample: numbers of rows stand in batches as well."""
    return all(part is None or (len(part) == 1 and part[0] == k) for k, part in enumerate(column))


def _is_in_other(leaves: list[list[Any]], column: list[Any], order: Order, own: Order) -> bool:
    """Whether a field stands in the batch in the order of the samples, and nowhere in the order of another field."""
    as_given = any(_fits(leaf, column, own) for leaf in leaves)
    return as_given and not any(_fits(leaf, column, order) for leaf in leaves)


def _fields(sample: Any) -> dict[str, Any]:
    if isinstance(sample, dict):
        return {str(key): value for key, value in sample.items()}
    parts = sample if isinstance(sample, (tuple, list)) else [sample]
    return {str(number): value for number, value in enumerate(parts)}


def _flat(thing: Any) -> np.ndarray[Any, Any] | None:
    """The numbers of a field, or of one row of a batch."""
    if isinstance(thing, torch.Tensor) and thing.layout == torch.strided and thing.numel() <= _MOST_VALUES:
        return np.asarray(thing.detach().cpu().double()).reshape(-1)
    if isinstance(thing, (bool, int, float, np.number)):
        return np.array([float(thing)])
    if isinstance(thing, (np.ndarray, list, tuple)) and len(thing):
        try:
            found = np.asarray(thing)
        except ValueError:
            return None
        return found.astype(float).reshape(-1) if found.dtype.kind in "biuf" else None
    return None


def _leaves(batch: Any, samples: int, depth: int = 0) -> Iterator[list[Any]]:
    """The parts of a batch that have one row for each sample, as rows; sequences may lie along the second axis."""
    if isinstance(batch, dict):
        parts: list[Any] = list(batch.values())
    elif isinstance(batch, (torch.Tensor, np.ndarray)):
        for axis in range(min(2, batch.ndim)):
            if batch.shape[axis] == samples:
                yield [_flat(batch[k] if axis == 0 else batch[:, k]) for k in range(samples)]
        return
    elif isinstance(batch, (tuple, list)):
        if len(batch) == samples and all(_flat(part) is not None for part in batch):
            yield [_flat(part) for part in batch]
        parts = list(batch)
    else:
        return
    for part in parts if depth < 2 else ():
        yield from _leaves(part, samples, depth + 1)


def _same(row: Any, wanted: Any) -> bool:
    """Whether a row is a sample's field, with padding behind it or before it."""
    if row is None or wanted is None or len(wanted) > len(row) or not len(wanted):
        return False
    values = wanted.astype(np.float32)
    found = row.astype(np.float32)
    return np.array_equal(found[: len(values)], values) or np.array_equal(found[-len(values) :], values)


def _order(leaf: list[Any], column: list[Any]) -> Order | None:
    """The sample of each row, where no two could be taken for each other."""
    found = []
    for row in leaf:
        fitting = [(len(wanted), k) for k, wanted in enumerate(column) if _same(row, wanted)]
        # A short sequence may be the beginning of a long one.
        longest = [k for length, k in fitting if length == max(fitting)[0]]
        if len(longest) != 1:
            return None
        found.append(longest[0])
    return tuple(found) if len(set(found)) == len(found) else None


def _fits(leaf: list[Any], column: list[Any], order: Order) -> bool:
    return all(_same(row, column[k]) for row, k in zip(leaf, order, strict=True))


def _tells(leaf: list[Any], order: Order) -> bool:
    """Whether a part of the batch is the order itself, or the one that undoes it."""
    if any(row is None or len(row) != 1 for row in leaf):
        return False
    numbers = tuple(int(row[0]) for row in leaf)
    back = tuple(int(k) for k in np.argsort(order))
    return numbers in (order, back)
