"""Parts of one data set that share people, recordings or other groups: known where the data set keeps whose each is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Subset

from torchmedic.facts import GroupsDealt
from torchmedic.late import late_dataclass
from torchmedic.probes.data.group_tables import OwnedTable, label_of_owners, owned_table
from torchmedic.probes.data.splits import split_line
from torchmedic.probes.events.loaders import Loaders, below_subsets
from torchmedic.probes.objects.rows import is_held_out, names_at, names_of_loader, tokens
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.sources import hung_at
from torchmedic.record import Probe, Recorder

_MOST_PARTS = 8
_MOST_SAMPLES = 1_000_000
_LEAST_GROUPS = 5
_LEAST_PER_GROUP = 3
_SINGLE = ("patient", "subject", "person", "speaker", "participant", "donor", "animal", "user", "customer", "student")
_SOURCES = ("driver", "child", "recording", "session", "video", "group")
_OWNERS = frozenset((*_SINGLE, *_SOURCES, *(f"{word}s" for word in (*_SINGLE, *_SOURCES)), "people", "children"))
_BESIDE = frozenset(("id", "ids", "of", "index", "name", "names", "code", "codes", "no"))


@late_dataclass()
class _Part:
    """A subset that a loader deals out."""

    base: int
    names: tuple[str, ...]
    indices: list[int]
    table: OwnedTable | None = None
    trained: bool = False


class GroupSplits(Probe):
    """Compares the groups of two subsets while their data set is alive."""

    name = "group-splits"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._parts: dict[int, _Part | None] = {}
        self._current: _Part | None = None
        self._found: list[tuple[_Part, _Part, GroupsDealt]] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self.recorder.clock_is_held:
            return
        key = id(iterator._index_sampler)
        if key not in self._parts and len(self._parts) < _MOST_PARTS:
            self._parts[key] = self._meet(iterator)
        self._current = self._parts.get(key)
        if self._current is not None and not self._current.trained:
            self.recorder.wake(self)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._current is not None:
            self._current.trained = True
        self.recorder.rest(self)

    def on_finish(self) -> None:
        for first, second, fact in self._found:
            if first.trained and not second.trained and is_held_out(second.names):
                self.recorder.observe(fact)

    def _meet(self, iterator: Any) -> _Part | None:
        subset = iterator._dataset
        if not isinstance(subset, Subset):
            return self._meet_table(iterator, subset)
        if len(subset) > _MOST_SAMPLES:
            return None
        base, indices = below_subsets(subset, list(range(len(subset))))
        part = _Part(base=id(base), names=self._names(iterator), indices=[int(i) for i in indices])
        for other in self._parts.values():
            if other is not None and other.base == part.base:
                self._compare(other, part, base)
                self._compare(part, other, base)
        return part

    def _names(self, iterator: Any) -> tuple[str, ...]:
        """A framework asks for its loaders and keeps them to itself: then the line tells that makes them."""
        names = names_of_loader(iterator._index_sampler, sys._getframe(4))
        names = names or names_at(self._loaders.built_for(iterator))
        return tuple(sorted(names, key=lambda name: not is_held_out((name,))))

    def _meet_table(self, iterator: Any, dataset: Any) -> _Part | None:
        """Data sets that were built apart, of the parts of one table."""
        table = owned_table(dataset, _OWNERS, _BESIDE)
        if table is None:
            return None
        part = _Part(base=id(dataset), names=self._names(iterator), indices=[], table=table)
        for other in self._parts.values():
            if other is not None and other.table is not None:
                self._compare_tables(other, part, dataset)
                self._compare_tables(part, other, dataset)
        return part

    def _compare_tables(self, trained: _Part, held_out: _Part, dataset: Any) -> None:
        train, other = trained.table, held_out.table
        found = label_of_owners(train, other) if train is not None and other is not None else None
        split = split_line() if found is not None else None
        if train is None or other is None or found is None or split is None:
            return
        whose, label = found
        groups = set(other.owners[whose])
        counts = sorted(Counter(other.owners[whose] + train.owners[whose]).values())
        if len(groups) < _LEAST_GROUPS or counts[len(counts) // 2] < _LEAST_PER_GROUP:
            return
        fact = GroupsDealt(
            step=self.recorder.step,
            dataset=type_name(dataset),
            attribute=whose,
            label=label,
            groups=len(groups),
            shared=len(groups & set(train.owners[whose])),
            samples=len(other.owners[whose]),
            names=held_out.names,
            split=split,
            made=None,
            table=other.attribute,
        )
        self._found.append((trained, held_out, fact))

    def _compare(self, trained: _Part, held_out: _Part, base: Any) -> None:
        owners = _owners(base)
        if owners is None:
            return
        attribute, label, column = owners
        groups = {column[i] for i in held_out.indices}
        known = {column[i] for i in trained.indices}
        fact = GroupsDealt(
            step=self.recorder.step,
            dataset=type_name(base),
            attribute=attribute,
            label=label,
            groups=len(groups),
            shared=len(groups & known),
            samples=len(held_out.indices),
            names=held_out.names,
            split=split_line(),
            made=hung_at(type(base), attribute),
        )
        self._found.append((trained, held_out, fact))


def _owners(base: Any) -> tuple[str, str, Sequence[Hashable]] | None:
    """The attribute that says whose each sample is, where what is to be predicted is the same for all of an owner's."""
    length = len(base) if hasattr(base, "__len__") else 0
    held = vars(base) if hasattr(base, "__dict__") else {}
    columns = {name: column for name, values in held.items() if (column := _column(values, length)) is not None}
    handed = getattr(getattr(type(base), "__getitem__", None), "__code__", None)
    read = set(handed.co_names) if handed is not None else set()
    for name in (n for n in columns if tokens(n) & _OWNERS and tokens(n) <= _OWNERS | _BESIDE):
        count = len(set(columns[name]))
        if not _LEAST_GROUPS <= count <= length / _LEAST_PER_GROUP:
            continue
        for label in (n for n in columns if n != name and n in read):
            classes = len(set(columns[label]))
            is_theirs = len(set(zip(columns[name], columns[label], strict=True))) == count
            if is_theirs and 2 <= classes <= count / 2:
                return name, label, columns[name]
    return None


def _column(values: Any, length: int) -> Sequence[Hashable] | None:
    """One whole number or name for each sample."""
    if isinstance(values, torch.Tensor):
        values = values.tolist() if values.ndim == 1 and not values.is_floating_point() else None
    elif isinstance(values, np.ndarray):
        values = values.tolist() if values.ndim == 1 and values.dtype.kind in "iuUO" else None
    if not isinstance(values, (list, tuple)) or len(values) != length or not 0 < length <= _MOST_SAMPLES:
        return None
    return values if all(type(value) in (int, str, bool) for value in values) else None
