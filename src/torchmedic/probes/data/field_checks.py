"""The data check-up of one tensor: what is strange about a field besides the values that made the step sick."""

from __future__ import annotations

import torch

from torchmedic.checkups.data.arrays import array_facts, as_numpy
from torchmedic.facts import ArraySeen

_LARGEST = 50_000_000


def checked(name: str, tensor: torch.Tensor) -> ArraySeen | None:
    """What the check-up sees of a tensor; nothing of one too large to copy."""
    if not 0 < tensor.numel() <= _LARGEST:
        return None
    return next((fact for fact in array_facts("", name, as_numpy(tensor)) if isinstance(fact, ArraySeen)), None)
