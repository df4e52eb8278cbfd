"""Two data sets that hold the same rows: do they read the same memory, or was the switch to the test part forgotten."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Subset

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.sources import user_nodes

_SWITCHES = ("test", "eval", "valid", "validate", "validation", "set_test", "use_test")
_MOST_FIELDS = 50


@late_dataclass(frozen=True)
class Kinship:
    """What two data sets have in common, noted while both are alive: at the end of a run they are gone."""

    same_base: bool
    same_whole: bool
    length: int
    kind: str
    same_memory: bool
    switch: tuple[str, Location | None] | None


def kinship(first: Any, second: Any) -> Kinship:
    base = second.dataset if isinstance(second, Subset) else second
    return Kinship(
        same_base=base is not None and base is (first.dataset if isinstance(first, Subset) else first),
        same_whole=first is second,
        length=len(base) if hasattr(base, "__len__") else 0,
        kind=type_name(base),
        same_memory=share_memory(first, second),
        switch=uncalled_switch(first, second),
    )


def drawn_indices(dataset: Any, sampler: Any) -> set[int] | None:
    """The indices into the innermost data set that a loader draws from; None for all of them."""
    chosen = getattr(sampler, "indices", None)
    if isinstance(dataset, Subset):
        own = [int(i) for i in dataset.indices]
        return {own[int(i)] for i in chosen if int(i) < len(own)} if chosen is not None else set(own)
    return {int(i) for i in chosen} if chosen is not None and not isinstance(chosen, str) else None


def share_memory(first: Any, second: Any) -> bool:
    """Whether two data sets begin to read at the same place in memory."""
    return bool(set(_addresses(first)) & set(_addresses(second)))


def _addresses(dataset: Any) -> Iterator[int]:
    for value in list(getattr(dataset, "__dict__", {}).values())[:_MOST_FIELDS]:
        for thing in value[:_MOST_FIELDS] if isinstance(value, (tuple, list)) else (value,):
            if isinstance(thing, torch.Tensor) and thing.layout == torch.strided and thing.numel() > 1:
                yield thing.data_ptr()
            elif isinstance(thing, np.ndarray) and thing.size > 1:
                yield int(thing.__array_interface__["data"][0])


def uncalled_switch(held_out: Any, trained: Any) -> tuple[str, Location | None] | None:
    """The method of the class of both data sets that would choose the test part, where no line calls it."""
    kind = type(held_out)
    if held_out is None or kind is not type(trained):
        return None
    for name in _SWITCHES:
        method = vars(kind).get(name)
        if inspect.isfunction(method) and is_user_file(method.__code__.co_filename) and not _is_called(name):
            return name, location(method.__code__.co_filename, method.__code__.co_firstlineno)
    return None


def _is_called(name: str) -> bool:
    """Whether a line of the script calls a method of this name with nothing but itself."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
        for _, node in user_nodes()
    )
