"""Activations whose backward is one kernel on a card, and is taken apart by a build of torch without CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

if TYPE_CHECKING:
    from torchmedic.checkups.memory.patches import Patches

_NAMES = ("silu", "mish")


def install_activations(patches: Patches, device: str) -> None:
    """Let them run as one kernel each way, where they run on the card."""
    functions: Any = torch._C._nn
    for name in _NAMES:
        patches.put(functions, name, _as_kernel(getattr(functions, name), device))


def _as_kernel(original: Any, device: str) -> Any:
    def activation(data: Any, *args: Any, **kwargs: Any) -> Any:
        learns = isinstance(data, FakeTensor) and data.device.type == device and data.requires_grad
        if not learns or not torch.is_grad_enabled() or args or kwargs:
            return original(data, *args, **kwargs)
        return _Kernel.apply(data, original)  # type: ignore[no-untyped-call]

    return activation


class _Kernel(torch.autograd.Function):
    """Keeps what comes in, and makes one gradient."""

    @staticmethod
    def forward(ctx: Any, data: Any, original: Any) -> Any:
        ctx.save_for_backward(data)
        return original(data)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return torch.empty_like(ctx.saved_tensors[0]), None
