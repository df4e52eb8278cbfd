"""Whether tensors hold NaN or infinity, and how large they are, asked in one call over all of them."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchmedic.probes.objects.letters import read_now


def gradients_of(optimizer: Any) -> list[torch.Tensor]:
    return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def size_of(tensors: list[torch.Tensor]) -> float:
    """The sum of their norms: not finite when a value is not, and when large finite values overflow."""
    plain = [t for t in tensors if t.layout == torch.strided and not t.requires_grad]
    if len(plain) != len(tensors):
        plain = _dense(tensors)
    if not plain:
        return 0.0
    return sum(read_now(list(torch._foreach_norm(plain))))


def bad_tensors(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those with NaN or infinity. Only a size that is not finite raises the question; then each is looked into."""
    if not tensors or math.isfinite(size_of(tensors)):
        return []
    return [t for t in _dense(tensors) if not bool(torch.isfinite(t).all())]


def _dense(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """What can be measured: the values of sparse tensors, nothing of complex ones."""
    values = [t._values() if t.layout == torch.sparse_coo else t for t in tensors]
    return [t.detach() for t in values if t.numel() and t.layout == torch.strided and not t.is_complex()]
