"""Samples of a Dataset or batches of a DataLoader, taken apart into fields and looked at field by field."""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from torchmedic.checkups.data.arrays import array_facts, as_numpy, purpose_of
from torchmedic.checkups.data.graphs import graph_facts, is_graph
from torchmedic.checkups.data.options import Listing, unlisted
from torchmedic.checkups.data.twins import is_held_out, is_training
from torchmedic.facts import ArraySeen, Cell, FileTrouble, Lengths, Observation, SharedBetween, TableColumn

_MOST_BYTES = 512 << 20
# Of a data set that gives none of its first samples there is nothing to check.
_HOPELESS = 50
_FEWEST_SAMPLES = 10
# Fewer tensors of one shape may be the layers of a network.
_FEWEST_TENSORS, _MOSTLY = 50, 0.9
_WHOLE = "sample"


@dataclass
class Samples:
    """Fields of the samples, each a list of arrays by sample, and a fingerprint of every sample."""

    fields: dict[str, list[np.ndarray]] = field(default_factory=dict)
    graphs: list[Any] = field(default_factory=list)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    prints: list[bytes] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0


def samples_of(data: Any, most: int | None) -> Samples:
    """The first samples, in the data set's order; of a loader, its batches taken apart.

    A sample that cannot be had is noted, and the next one fetched; of a loader, which ends there, the others are kept.
    """
    samples, size = Samples(), 0
    for number, thing in itertools.islice(_each(data, samples.failed), most):
        digest = hashlib.blake2b(digest_size=16)
        for name, array in _fields(thing, ""):
            samples.fields.setdefault(name, []).append(array)
            samples.numbers.setdefault(name, []).append(number)
            size += array.nbytes
            if purpose_of(name) != "label":
                digest.update(f"{name}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
        if is_graph(thing):
            samples.graphs.append(thing)
        samples.prints.append(digest.digest())
        samples.count += 1
        if size > _MOST_BYTES:
            break
    return samples


def _each(data: Any, failed: list[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    """The samples with their numbers; those that raise go to `failed`."""
    if not hasattr(data, "batch_sampler") and hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        for i in range(len(data)):
            try:
                thing = data[i]
            except Exception as error:
                failed.append((i, _short(error)))
                if len(failed) == i + 1 == _HOPELESS:
                    raise
                continue
            yield i, thing
        return
    number = 0
    loader, drawn = _recorded(data)
    try:
        for batch, thing in enumerate(loader):
            ones = list(_unbatched(thing)) if hasattr(data, "batch_sampler") and hasattr(data, "dataset") else [thing]
            indices = drawn[batch] if batch < len(drawn) and len(drawn[batch]) == len(ones) else None
            for i, one in enumerate(ones):
                yield number if indices is None else indices[i], one
                number += 1
    except Exception as error:
        if not number:
            raise
        failed.append((number, _short(error)))


class _Recorded:
    """Hands on what a sampler draws, and keeps it."""

    def __init__(self, sampler: Any, drawn: list[list[int]]) -> None:
        self._sampler, self._drawn = sampler, drawn

    def __iter__(self) -> Iterator[Any]:
        for indices in self._sampler:
            self._drawn.append([i for i in indices if isinstance(i, int)] if isinstance(indices, list) else [])
            yield indices

    def __len__(self) -> int:
        return len(self._sampler)


def _recorded(data: Any) -> tuple[Any, list[list[int]]]:
    """A twin of a loader that keeps the numbers of the samples in each batch: a shuffled one draws them as it goes."""
    drawn: list[list[int]] = []
    dataset, sampler = getattr(data, "dataset", None), getattr(data, "batch_sampler", None)
    if sampler is None or not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
        return data, drawn
    twin = copy.copy(data)
    if not hasattr(twin, "__dict__") or twin is data:
        return data, drawn
    # Past the guard that keeps users from exchanging the sampler of a loader in use.
    twin.__dict__ |= {"batch_sampler": _Recorded(sampler, drawn), "_iterator": None}
    return twin, drawn


def _short(error: BaseException) -> str:
    said = str(error).strip().rpartition("\n")[2]
    return f"{type(error).__name__}: {said}"[:160].rstrip(": ")


def _unbatched(batch: Any) -> Iterator[Any]:
    """The samples of a batch as the user's collate function left them; a batch that cannot be taken apart is one."""
    fields = dict(_fields(batch, ""))
    sizes = {len(array) for array in fields.values() if array.ndim}
    if is_graph(batch) or len(sizes) != 1 or any(array.ndim == 0 for array in fields.values()):
        yield batch
        return
    for i in range(sizes.pop()):
        yield {name: array[i] for name, array in fields.items()}


def _fields(thing: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a sample by their path: `[0]`, `['image']`, `.x`."""
    if is_graph(thing) or thing is None:
        return
    if isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from _fields(value, f"{name}['{key}']" if name or not str(key).startswith("[") else str(key))
    elif isinstance(thing, list | tuple):
        for i, value in enumerate(thing):
            yield from _fields(value, f"{name}[{i}]")
    elif hasattr(thing, "detach"):
        yield name or _WHOLE, as_numpy(thing)
    elif isinstance(thing, np.ndarray | int | float | bool | np.generic):
        array = np.asarray(thing)
        if array.dtype.kind in "fiub":
            yield name or _WHOLE, array


def sample_facts(source: str, samples: Samples, listing: Listing = unlisted, prefix: str = "") -> Iterator[Observation]:
    """Each field over all samples, each graph, and the samples that could not be had."""
    if samples.failed:
        number, said = samples.failed[0]
        share = f"{len(samples.failed)} of {samples.count + len(samples.failed)} samples fail"
        yield FileTrouble(source=source, trouble="failing-samples", detail=f"{share}; sample {number}: {said}")
    for name, arrays in samples.fields.items():
        numbers = samples.numbers[name]
        shapes = Counter(array.shape for array in arrays)
        common, count = shapes.most_common(1)[0]
        if len(shapes) > 1:
            yield _ragged(source, _named(prefix, name), arrays, numbers, common, count / len(arrays))
        alike = [array for array in arrays if array.shape == common]
        their = [number for number, array in zip(numbers, arrays, strict=True) if array.shape == common]
        purpose = "label" if _is_label(name, alike) else None
        told = _named(prefix, name)
        for fact in array_facts(source, told, np.stack(alike), purpose, listing, their):
            left_out = len(arrays) - len(alike)
            yield replace(fact, left_out=left_out) if isinstance(fact, ArraySeen) else fact
    for i, graph in enumerate(samples.graphs[:200]):
        yield from graph_facts(source, f"{prefix}[{i}]", graph, listing)


def _named(prefix: str, name: str) -> str:
    """What is no field of its samples has the name of the list that holds it."""
    return prefix if prefix and name == _WHOLE else prefix + name


def _is_label(name: str, arrays: list[np.ndarray]) -> bool:
    """A whole number beside other fields is a label: `dataset[i][1]`."""
    return arrays[0].ndim == 0 and arrays[0].dtype.kind in "iu" and (name == "[1]" or purpose_of(name) == "label")


def _ragged(
    source: str, name: str, arrays: list[np.ndarray], numbers: list[int], common: tuple[int, ...], share: float
) -> TableColumn:
    odd = [(i, array.shape) for i, array in zip(numbers, arrays, strict=True) if array.shape != common]
    sizes = [array.shape[0] if array.ndim else 0 for array in arrays]
    cells = tuple(Cell(row=i, text=f"shape {list(shape)}") for i, shape in odd[:5])
    lengths = Lengths(
        shortest=min(sizes),
        longest=max(sizes),
        common=common[0] if common else 0,
        share=share,
        cells=cells,
        shape=str(list(common)),
    )
    return TableColumn(
        source=source, column=name, type=str(list(common)), family="list", rows=len(arrays), lengths=lengths
    )


def are_samples(things: Any) -> bool:
    """Whether a list holds samples, each with the same fields, rather than a few tensors of different meaning."""
    if len(things) >= _FEWEST_TENSORS and all(hasattr(one, "shape") and hasattr(one, "dtype") for one in things):
        shapes = Counter(tuple(one.shape) for one in things)
        return min(map(len, shapes)) > 0 and max(shapes.values()) >= _MOSTLY * len(things)
    if len(things) < _FEWEST_SAMPLES or not all(isinstance(one, list | tuple | Mapping) for one in things):
        return False
    first, *others = ([name for name, _ in _fields(one, "")] for one in things)
    return bool(first) and all(names == first for names in others)


def compare_samples(parts: dict[str, Samples]) -> Iterator[SharedBetween]:
    """Samples of a test part that the training part has too."""
    for train, test in itertools.product(parts, parts):
        if not (is_training(train) and is_held_out(test)):
            continue
        known = set(parts[train].prints)
        same = [i for i, one in enumerate(parts[test].prints) if one in known]
        if same:
            yield SharedBetween(
                source=test,
                train=train,
                test=test,
                how="exact",
                columns=(),
                shared=len(same),
                of=parts[test].count,
                cells=tuple(Cell(row=i, text="in both") for i in same[:5]),
            )
