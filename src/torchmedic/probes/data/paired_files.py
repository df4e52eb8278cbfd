"""Whether a data set pairs files by their place in two lists, and the lists are in different orders."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from torchmedic.facts import FilesPairedApart
from torchmedic.probes.data.paired_labels import labels_apart
from torchmedic.probes.events.loaders import base_of
from torchmedic.probes.source.expressions import function_of
from torchmedic.probes.source.frames import file_of, is_user_file
from torchmedic.probes.source.sources import hung_at
from torchmedic.record import Probe, Recorder

_LEAST_FILES = 4
_MOST_FILES = 20_000
_SHARED = 0.9  # of the names: the others may be files that lack their partner
_LEAST_APART = 2
_MOST_DATASETS = 4
_ON_PURPOSE = ("shuffle", "sample(", "permut")
_PIECES = re.compile(r"\d+|[^\W\d_]+")

Key = tuple[int | str, ...]


class PairedFiles(Probe):
    """Looks once at the lists of names that a user's data set holds, when its first batch comes."""

    name = "paired-files"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: set[int] = set()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if getattr(iterator, "_num_yielded", 0) != 1 or len(self._seen) >= _MOST_DATASETS:
            return
        dataset = base_of(iterator._dataset)
        if id(dataset) not in self._seen and is_user_file(file_of(type(dataset))):
            self._seen.add(id(dataset))
            lists = dict(lists_of_files(dataset))
            read = read_at_one_index(type(dataset)) if lists else []
            found = paired_apart(dataset, lists, read) or labels_apart(dataset, lists, read)
            if found is not None:
                self.recorder.observe(found)


def paired_apart(dataset: Any, lists: dict[str, list[PurePath]], read: list[str]) -> FilesPairedApart | None:
    """Two lists of a data set that name the same things in different orders, and are read at one index."""
    for one, two in itertools.combinations([name for name in read if name in lists], 2):
        first, second = keys_of(lists[one]), keys_of(lists[two])
        apart = _apart(first, second) if not set(lists[one]) & set(lists[two]) else []
        if len(apart) >= _LEAST_APART:
            at = apart[0]
            return FilesPairedApart(
                dataset=type(dataset).__name__,
                lists=(one, two),
                names=(lists[one][at].name, lists[two][at].name),
                row=at,
                apart=len(apart),
                rows=len(first),
                # What is sorted as text is out of order as numbers, and the list to sort otherwise.
                where=hung_at(type(dataset), two if _counts_up(first) else one),
            )
    return None


def lists_of_files(dataset: Any) -> Iterator[tuple[str, list[PurePath]]]:
    """The attributes that hold names of files, one for each row."""
    for name, held in list(getattr(dataset, "__dict__", {}).items())[:50]:
        is_list = isinstance(held, (list, tuple)) and _LEAST_FILES <= len(held) <= _MOST_FILES
        if is_list and all(isinstance(one, (str, Path)) and PurePath(one).suffix for one in held):
            yield name, [PurePath(one) for one in held]


def read_at_one_index(kind: type) -> list[str]:
    """The attributes that `__getitem__` reads at the index it is given, unless the class mixes them on purpose."""
    code = getattr(getattr(kind, "__getitem__", None), "__code__", None)
    function = function_of(code) if code is not None else None
    if function is None or len(function.args.args) < 2:
        return []
    source = _source(kind)
    if any(word in source for word in _ON_PURPOSE):
        return []
    index = function.args.args[1].arg
    read = [
        node.value.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and ast.unparse(node.value.value) == function.args.args[0].arg
        and ast.unparse(node.slice) == index
    ]
    return list(dict.fromkeys(read))


def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""


def keys_of(names: Sequence[PurePath]) -> list[Key]:
    """What tells the names of a list apart: numbers and words, without those that all of them have.

    >>> keys_of([PurePath("tile_1.npy"), PurePath("tile_10.npy")])
    [(1,), (10,)]
    >>> keys_of([PurePath("0001_mask.npy"), PurePath("0010_mask.npy")])
    [(1,), (10,)]
    """
    pieces = [[int(p) if p.isdecimal() else p.lower() for p in _PIECES.findall(name.stem)] for name in names]
    common = set(pieces[0]).intersection(*pieces)
    return [tuple(piece for piece in one if piece not in common) for one in pieces]


def _apart(first: list[Key], second: list[Key]) -> list[int]:
    """The rows at which two lists of the same things do not hold the same one."""
    if len(first) != len(second) or len(set(first)) < len(first) or len(set(second)) < len(second):
        return []
    if len(set(first) & set(second)) < _SHARED * len(first) or _is_shifted(first, second):
        return []
    known = set(second)
    return [row for row, (one, two) in enumerate(zip(first, second, strict=True)) if one != two and one in known]


def _is_shifted(first: list[Key], second: list[Key]) -> bool:
    """Whether each is paired with the next but so many: frames of a film with those that follow."""
    steps = {two[0] - one[0] for one, two in zip(first, second, strict=True) if _is_number(one) and _is_number(two)}  # type: ignore[operator]
    return len(steps) == 1


def _is_number(key: Key) -> bool:
    return len(key) == 1 and isinstance(key[0], int)


def _counts_up(keys: list[Key]) -> bool:
    return all(_is_number(key) for key in keys) and keys == sorted(keys)
