"""Whether an update could leave the range of its type although every gradient is finite."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.probes.events.optimizers import parameters_of

# Squares of gradients are kept by most optimizers: below this neither they nor any usual rate times them overflow.
_LARGE_GRADIENT = 1e15
_LARGE_RATE = 1e6


# Where only the kind of optimizer or of number speaks for it, the copy is made in every step: then it must be a small
# one, on the host, where looking at it afterwards waits for nothing.
_MOST_ELEMENTS_COPIED = 1_000_000


def may_overflow(optimizer: Any, gradient_norm: float) -> bool:
    """Only then is the state copied before the update, so that it can be undone: a copy in every step is too dear."""
    if gradient_norm > _LARGE_GRADIENT:
        return True
    return _is_risky(optimizer) and _is_small_on_host(optimizer)


def _is_risky(optimizer: Any) -> bool:
    """Whether this optimizer can overflow at small gradients: those that are not torch's own may divide by anything."""
    if not type(optimizer).__module__.startswith("torch."):
        return True
    for group in optimizer.param_groups:
        rate = group.get("lr", 0.0)
        if group.get("eps") == 0 or (isinstance(rate, (int, float)) and abs(rate) > _LARGE_RATE):
            return True
        if group["params"] and group["params"][0].dtype == torch.float16:
            return True
    return False


def _is_small_on_host(optimizer: Any) -> bool:
    parameters = parameters_of(optimizer)
    elements = sum(p.numel() for p in parameters)
    return elements <= _MOST_ELEMENTS_COPIED and all(p.device.type == "cpu" for p in parameters)
