"""A few small parameters of an optimizer by which its gradients are looked at again and again."""

from __future__ import annotations

import weakref
from typing import Any

import torch

_MOST = 2


def choose_marks(optimizer: Any) -> list[weakref.ref[torch.Tensor]]:
    """The smallest parameters that have a gradient."""
    having = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    chosen: list[weakref.ref[torch.Tensor]] = []
    for parameter in sorted(having, key=lambda p: p.numel()):
        if len(chosen) < _MOST and _nonzero(parameter.grad):
            chosen.append(weakref.ref(parameter))
    return chosen


def has_gradient(mark: weakref.ref[torch.Tensor]) -> bool:
    tensor = mark()
    return tensor is not None and tensor.grad is not None and _nonzero(tensor.grad)


def _nonzero(gradient: torch.Tensor) -> bool:
    # Of what is spread over ranks the own part is looked at: to look at all of it, the ranks would have to meet.
    values: torch.Tensor = getattr(gradient, "_local_tensor", gradient).detach()
    if values.layout == torch.sparse_coo:
        values = values._values()
    return bool(values.count_nonzero())
