"""The arrays that a training holds its data in: attributes of data sets, what a TensorDataset was given, variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field, replace
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.utils.data import TensorDataset

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.objects.name_paths import user_modules
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import file_of, is_user_file, outward
from torchmedic.probes.source.making_lines import (
    Place,
    attribute_made,
    name_of,
    places_behind,
    tensor_given,
    variable_made,
)
from torchmedic.probes.source.sources import user_files

_MOST_ATTRIBUTES = 50
_MOST_HELD = 60
_LEAST_ROWS = 50
_MOST_LABELS = 300

Array = np.ndarray[Any, Any]


@late_dataclass(frozen=True)
class Held:
    """An array of data: how the script calls it, the name (or attribute) alone, and where its value came from."""

    name: str
    word: str
    array: torch.Tensor | Array
    made: Place | None
    of_rows: bool = False  # it has an entry for each row of a data set
    owner: str = ""  # the class of the data set
    labels: dict[int, tuple[str, ...]] = field(default_factory=dict)  # names of columns, by how many there are

    def label(self, column: int, columns: int) -> str:
        return self.labels.get(columns, ("",) * columns)[column]

    @property
    def dtype(self) -> str:
        return str(self.array.dtype).removeprefix("torch.")

    def rows(self, most_values: int, is_spread: bool = False) -> Array:
        """The first rows, or rows from all over it, as many as hold so many values."""
        count = max(_LEAST_ROWS, most_values // max(1, _size(self.array) // max(1, len(self.array))))
        step = max(1, len(self.array) // count) if is_spread else 1
        part = self.array[::step][:count]
        return part.detach().cpu().numpy() if isinstance(part, torch.Tensor) else part


def held_arrays(datasets: list[Any], frame: FrameType | None) -> list[Held]:
    """Every array with rows, each once, those of data sets first."""
    found: dict[tuple[Any, ...], Held] = {}
    lists = _lists_of_names(frame)
    for held in (*(held for dataset in datasets for held in _of_dataset(dataset)), *_of_variables(frame)):
        if len(found) < _MOST_HELD:
            found.setdefault(_memory(held.array), replace(held, labels=_labels(held, lists)))
    return list(found.values())


def _lists_of_names(frame: FrameType | None) -> dict[str, tuple[str, ...]]:
    """The script's lists of different words, by the names of the variables that hold them."""
    return {
        name: tuple(thing)
        for _, _, names in _scopes(frame)
        for name, thing in list(names.items())
        if type(thing) in (list, tuple) and 1 < len(thing) <= _MOST_LABELS and not name.startswith("__")
        if all(type(word) is str for word in thing) and len(set(thing)) == len(thing)
    }


def _labels(held: Held, lists: dict[str, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Names of columns, by how many there are: lists that the code speaks of which made the array."""
    if not lists or held.made is None:
        return {}
    behind = list(places_behind(held.made))
    found: dict[int, tuple[str, ...]] = {}
    # The functions around speak of more than the expressions themselves, which come last and count most.
    for code in ([p.scope for p in behind if isinstance(p.scope, ast.FunctionDef)], [p.value for p in behind]):
        spoken = {node.id for part in code for node in ast.walk(part) if isinstance(node, ast.Name)}
        known = {lists[name] for name in lists if name in spoken}
        lengths = [len(words) for words in known]
        found |= {len(words): words for words in known if lengths.count(len(words)) == 1}
    return found


def _of_dataset(dataset: Any) -> Iterator[Held]:
    if type(dataset) is TensorDataset:
        for position, tensor in enumerate(dataset.tensors):
            made = tensor_given(position)
            name = name_of(made) or f"TensorDataset.tensors[{position}]"
            if _is_data(tensor):
                yield Held(name, name, tensor, made, of_rows=True)
        return
    if not is_user_file(file_of(type(dataset))):
        return
    kind = type(dataset)
    for attribute, thing in list(getattr(dataset, "__dict__", {}).items())[:_MOST_ATTRIBUTES]:
        for key, array in _arrays_in(thing):
            made = attribute_made(kind, attribute)
            yield Held(
                f"{kind.__name__}.{attribute}{key}",
                attribute,
                array,
                made,
                of_rows=len(array) == _length(dataset),
                owner=kind.__name__,
            )


def _of_variables(frame: FrameType | None) -> Iterator[Held]:
    for file, scope, names in _scopes(frame):
        for name, thing in list(names.items()):
            if not name.startswith("__"):
                for key, array in _arrays_in(thing):
                    yield Held(f"{name}{key}", name, array, variable_made(file, scope, name))


def _scopes(frame: FrameType | None) -> Iterator[tuple[str, ast.AST, dict[str, Any]]]:
    """The user's running functions, innermost first, then the user's modules."""
    for each in outward(frame):
        file = each.f_code.co_filename
        tree = parsed(file) if is_user_file(file) and each.f_code.co_name != "<module>" else None
        if tree is not None:
            yield file, enclosing_function(tree, each), locals_of(each)
    near = set(user_files())
    for module in user_modules():
        file = str(module.__file__)
        tree = parsed(file) if file in near else None
        if tree is not None:
            yield file, tree, vars(module)


def _arrays_in(thing: Any) -> Iterator[tuple[str, torch.Tensor | Array]]:
    """An array, those of a dictionary, and the fields of a record array."""
    if isinstance(thing, dict) and len(thing) <= _MOST_ATTRIBUTES:
        yield from ((f"[{key!r}]", item) for key, item in pairs_in(thing) if isinstance(key, str) and _is_data(item))
    elif type(thing) is np.ndarray and thing.dtype.names:
        yield from ((f"[{name!r}]", thing[name]) for name in thing.dtype.names if _is_data(thing[name]))
    elif _is_data(thing):
        yield "", thing


def _is_data(thing: Any) -> bool:
    if isinstance(thing, torch.Tensor):
        is_plain = type(thing) is torch.Tensor and thing.layout == torch.strided and not thing.requires_grad
        return is_plain and not thing.is_complex() and not thing.is_quantized and thing.ndim > 0 and _is_long(thing)
    return type(thing) is np.ndarray and thing.dtype.kind in "iuf" and thing.ndim > 0 and _is_long(thing)


def _is_long(array: Any) -> bool:
    return len(array) >= _LEAST_ROWS and _size(array) > 0 and str(array.dtype) != "torch.bfloat16"


def _size(array: torch.Tensor | Array) -> int:
    return array.numel() if isinstance(array, torch.Tensor) else array.size


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return -1


def _memory(array: torch.Tensor | Array) -> tuple[Any, ...]:
    """What two views of the same numbers have in common: a tensor made by `from_numpy` is its array."""
    if isinstance(array, torch.Tensor):
        strides = tuple(step * array.element_size() for step in array.stride())
        return array.data_ptr(), tuple(array.shape), strides
    return array.__array_interface__["data"][0], array.shape, array.strides
