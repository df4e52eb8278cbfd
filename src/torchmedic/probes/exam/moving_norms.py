"""BatchNorm layers of a frozen part whose running statistics go on moving: freezing weights does not freeze them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmedic.facts import FrozenStatistics, Location
from torchmedic.late import late_dataclass

_MOST = 200
_LOOKS = 2
# Statistics of fewer batches have not settled: they belong to a layer that was just built.
_SETTLED = 10


@late_dataclass()
class _Norm:
    """A layer as it was when a step was first seen with its weights frozen, and the buffers that go on changing.

    The layer itself may be gone when the run is over.
    """

    part: str
    path: str
    mean: torch.Tensor
    variance: torch.Tensor
    batches: int
    mean_now: torch.Tensor
    batches_now: torch.Tensor
    weight: torch.Tensor


class MovingNorms:
    """Keeps a copy of the statistics from the first steps of every optimizer, and compares at the end."""

    def __init__(self) -> None:
        self._norms: dict[int, _Norm] = {}
        self._looks: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def look(self, optimizer: Any, roots: Callable[[], Iterable[nn.Module]]) -> None:
        looks = self._looks.get(optimizer, 0)
        if looks >= _LOOKS:
            return
        self._looks[optimizer] = looks + 1
        held = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for root in roots():
            if any(id(p) in held and p.requires_grad for p in root.parameters()):
                self._look_into(root, "")

    def _look_into(self, module: nn.Module, path: str) -> None:
        """Find the outermost parts that are frozen as a whole, and the layers in them."""
        for name, child in module.named_children():
            inner = f"{path}.{name}" if path else name
            parameters = list(child.parameters())
            if parameters and not any(p.requires_grad for p in parameters):
                if any(p.ndim > 1 for p in parameters):
                    self._note_layers(child, inner)
            else:
                self._look_into(child, inner)

    def _note_layers(self, part: nn.Module, path: str) -> None:
        for name, layer in part.named_modules():
            if _is_moving(layer) and id(layer) not in self._norms and len(self._norms) < _MOST:
                batches = int(layer.num_batches_tracked)
                if batches >= _SETTLED:
                    mean, variance = layer.running_mean.clone(), layer.running_var.clone()
                    inner = f"{path}.{name}" if name else path
                    now = layer.running_mean, layer.num_batches_tracked, layer.weight
                    self._norms[id(layer)] = _Norm(path, inner, mean, variance, batches, *now)

    def facts(self, train_called: Location | None) -> Iterator[FrozenStatistics]:
        """For each frozen part, the layer that moved most."""
        for part in dict.fromkeys(norm.part for norm in self._norms.values()):
            seen = [fact for norm in self._norms.values() if norm.part == part and (fact := _fact(norm, train_called))]
            if seen:
                yield max(seen, key=lambda fact: fact.shift)


def _is_moving(layer: Any) -> bool:
    return (
        isinstance(layer, _BatchNorm)
        and layer.training
        and layer.running_mean is not None
        and layer.running_var is not None
        and layer.num_batches_tracked is not None
        and layer.weight is not None
    )


def _fact(norm: _Norm, train_called: Location | None) -> FrozenStatistics | None:
    if norm.weight.requires_grad:
        return None
    spread = norm.variance.clamp_min(1e-12).sqrt()
    return FrozenStatistics(
        part=norm.part,
        layer=norm.path,
        shift=float(((norm.mean_now - norm.mean).abs() / spread).mean()),
        batches=int(norm.batches_now) - norm.batches,
        before=norm.batches,
        train_called=train_called,
    )
