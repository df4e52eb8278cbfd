"""Samples of a Dataset or batches of a DataLoader, taken apart into fields and looked at field by field."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torchmedic.checkups.data.arrays import array_facts, as_numpy, purpose_of
from torchmedic.checkups.data.graphs import graph_facts, is_graph
from torchmedic.checkups.data.twins import is_held_out, is_training
from torchmedic.facts import Cell, Lengths, Observation, SharedBetween, TableColumn

_MOST_BYTES = 512 << 20


@dataclass
class Samples:
    """Fields of the samples, each a list of arrays by sample, and a fingerprint of every sample."""

    fields: dict[str, list[np.ndarray]] = field(default_factory=dict)
    graphs: list[Any] = field(default_factory=list)
    prints: list[bytes] = field(default_factory=list)
    count: int = 0


def samples_of(data: Any, most: int | None) -> Samples:
    """The first samples, in the data set's order; of a loader, its batches taken apart."""
    samples, size = Samples(), 0
    for thing in itertools.islice(_each(data), most):
        digest = hashlib.blake2b(digest_size=16)
        for name, array in _fields(thing, ""):
            samples.fields.setdefault(name, []).append(array)
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


def _each(data: Any) -> Iterator[Any]:
    if hasattr(data, "batch_sampler") and hasattr(data, "dataset"):
        for batch in data:
            yield from _unbatched(batch)
    elif hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        yield from (data[i] for i in range(len(data)))
    else:
        yield from data


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
        yield name or "sample", as_numpy(thing)
    elif isinstance(thing, np.ndarray | int | float | bool | np.generic):
        array = np.asarray(thing)
        if array.dtype.kind in "fiub":
            yield name or "sample", array


def sample_facts(source: str, samples: Samples) -> Iterator[Observation]:
    """Each field over all samples, and each graph."""
    for name, arrays in samples.fields.items():
        shapes = Counter(array.shape for array in arrays)
        common, count = shapes.most_common(1)[0]
        if len(shapes) > 1:
            yield _ragged(source, name, arrays, common, count / len(arrays))
        alike = [array for array in arrays if array.shape == common]
        purpose = "label" if _is_label(name, alike) else None
        yield from array_facts(source, name, np.stack(alike), purpose)
    for i, graph in enumerate(samples.graphs[:200]):
        yield from graph_facts(source, f"[{i}]", graph)


def _is_label(name: str, arrays: list[np.ndarray]) -> bool:
    """A whole number beside other fields is a label: `dataset[i][1]`."""
    return arrays[0].ndim == 0 and arrays[0].dtype.kind in "iu" and (name == "[1]" or purpose_of(name) == "label")


def _ragged(source: str, name: str, arrays: list[np.ndarray], common: tuple[int, ...], share: float) -> TableColumn:
    odd = [(i, array.shape) for i, array in enumerate(arrays) if array.shape != common]
    sizes = [array.shape[0] if array.ndim else 0 for array in arrays]
    cells = tuple(Cell(row=i, text=f"shape {list(shape)}") for i, shape in odd[:5])
    lengths = Lengths(
        shortest=min(sizes), longest=max(sizes), common=common[0] if common else 0, share=share, cells=cells
    )
    return TableColumn(
        source=source, column=name, type=str(list(common)), family="list", rows=len(arrays), lengths=lengths
    )


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
