"""Buffers of a wrapped model that its wrapper does not spread over the ranks, in a few numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase

_MOST_BUFFERS = 32
_CHANNELS = 16
_USUAL_MOMENTUM = 0.2


def own_buffers(model: nn.Module) -> dict[str, float]:
    """Norms of the buffers that are saved with the model and are no layer's running statistics."""
    found: dict[str, float] = {}
    for path, module in model.named_modules():
        if isinstance(module, _NormBase):
            continue
        for name, buffer in module._buffers.items():
            saved = name not in module._non_persistent_buffers_set
            if saved and _is_plain(buffer) and len(found) < _MOST_BUFFERS:
                found[f"{path}.{name}" if path else name] = float(buffer.detach().norm())
    return found


def running_statistics(model: nn.Module) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Means and variances of some channels of layers that follow their data slowly enough to have settled."""
    found: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    for path, module in model.named_modules():
        follows = isinstance(module, _NormBase) and (module.momentum is None or module.momentum <= _USUAL_MOMENTUM)
        if follows and _is_plain(module.running_mean) and len(found) < _MOST_BUFFERS:
            found[path] = (_some(module.running_mean), _some(module.running_var))
    return found


def _is_plain(buffer: Any) -> bool:
    return isinstance(buffer, torch.Tensor) and buffer.is_floating_point() and buffer.layout == torch.strided


def _some(values: Any) -> tuple[float, ...]:
    return tuple(round(value, 6) for value in values.detach()[:_CHANNELS].tolist())
