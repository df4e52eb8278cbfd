"""Whether an update could leave the range of its type although every gradient is finite."""

from __future__ import annotations

from typing import Any

import torch

# Squares of gradients are kept by most optimizers: below this neither they nor any usual rate times them overflow.
_LARGE_GRADIENT = 1e15
_LARGE_RATE = 1e6


def may_overflow(optimizer: Any, gradient_norm: float) -> bool:
    """Only then is the state copied before the update, so that it can be undone: a copy in every step is too dear.

    Optimizers that are not torch's own may divide by anything, so they are always taken for able to.
    """
    if gradient_norm > _LARGE_GRADIENT or not type(optimizer).__module__.startswith("torch."):
        return True
    for group in optimizer.param_groups:
        rate = group.get("lr", 0.0)
        if group.get("eps") == 0 or (isinstance(rate, (int, float)) and abs(rate) > _LARGE_RATE):
            return True
        if group["params"] and group["params"][0].dtype == torch.float16:
            return True
    return False
