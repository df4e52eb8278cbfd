"""How the values of a tensor are spread, and some of its rows as text: what a picture of the data needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Histogram
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import is_user_file

_BINS = 30
_MOST_WHOLE_BINS = 60
_MOST_VALUES = 200_000
_FAR = 20.0
_SHOWN = 8


def tensors_in(thing: Any, path: str, depth: int = 3) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors inside a structure with the Python expression that reaches them."""
    if isinstance(thing, torch.Tensor):
        yield path, thing
    elif depth == 0 or isinstance(thing, (str, bytes, type, nn.Module)) or _is_library(thing):
        return
    elif isinstance(thing, dict):
        for key, item in pairs_in(thing)[:200]:
            yield from tensors_in(item, f"{path}[{key!r}]", depth - 1)
    elif isinstance(thing, (list, tuple)):
        for i, item in enumerate(thing[:200]):
            yield from tensors_in(item, f"{path}[{i}]", depth - 1)
    elif type(thing).__module__.startswith("torch_geometric"):
        yield from _graph_tensors(thing, path)
    elif hasattr(thing, "__dict__") and not isinstance(thing, torch.optim.Optimizer):
        for name, item in list(vars(thing).items())[:200]:
            if not name.startswith("__"):
                yield from tensors_in(item, f"{path}.{name}", depth - 1)


def _is_library(thing: Any) -> bool:
    """A module that somebody else wrote: it holds none of the user's data, may warn when looked at, or import more."""
    return isinstance(thing, ModuleType) and not is_user_file(str(vars(thing).get("__file__") or "<built-in>"))


def _graph_tensors(data: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Fields of PyG data by node and edge type."""
    for store in getattr(data, "stores", ()):
        kind = getattr(store, "_key", None)
        prefix = f"{path}[{kind!r}]" if kind is not None else path
        for name, item in store.items():
            if isinstance(item, torch.Tensor):
                yield f"{prefix}.{name}", item


def some_values(tensor: torch.Tensor) -> torch.Tensor | None:
    """Evenly chosen values of a tensor in this process's memory; None where it has none to read."""
    if tensor.layout != torch.strided or tensor.is_complex() or tensor.is_meta or not tensor.numel():
        return None
    flat = tensor.detach().reshape(-1)
    return flat[:: -(-len(flat) // _MOST_VALUES)].to("cpu", torch.float64)


def histogram(values: torch.Tensor) -> Histogram | None:
    """The spread of the finite values. A few that lie far out do not press all others into one bin.

    >>> histogram(torch.tensor([0, 1, 1, 2.0]))
    Histogram(low=-0.5, high=2.5, counts=(1, 2, 1), below=0, above=0)
    """
    finite = values[torch.isfinite(values)].sort().values
    if not len(finite) or finite[0] == finite[-1]:
        return None
    low, high = float(finite[0]), float(finite[-1])
    if high - low < _MOST_WHOLE_BINS and bool((finite == finite.round()).all()):
        low, high, bins = low - 0.5, high + 0.5, round(high - low) + 1
    else:
        bins = _BINS
        inner = [float(finite[int(q * (len(finite) - 1))]) for q in (0.01, 0.99)]
        reach = inner[1] - inner[0]
        if 0 < reach < (high - low) / _FAR:
            low, high = max(low, inner[0] - reach), min(high, inner[1] + reach)
    inside = finite[(finite >= low) & (finite <= high)]
    return Histogram(
        low=low,
        high=high,
        counts=tuple(int(count) for count in torch.histc(inside, bins, low, high)),
        below=int((finite < low).sum()),
        above=int((finite > high).sum()),
    )


def rows_as_text(tensor: torch.Tensor, rows: Iterable[int], around: int = 0) -> tuple[str, ...]:
    """Rows of a tensor, each with a few values: those about a column that matters.

    >>> rows_as_text(torch.eye(2), [1])
    ('1: 0, 1',)
    """
    if tensor.ndim == 0 or tensor.layout != torch.strided:
        return ()
    return tuple(f"{row}: {_row(tensor[row].detach().reshape(-1), around)}" for row in rows)


def _row(values: torch.Tensor, around: int) -> str:
    start = max(0, min(around - _SHOWN // 2, len(values) - _SHOWN))
    shown = ", ".join(f"{value:.5g}" for value in values[start : start + _SHOWN].to("cpu", torch.float64).tolist())
    return ("… " if start else "") + shown + (" …" if start + _SHOWN < len(values) else "")
