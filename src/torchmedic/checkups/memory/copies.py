"""Deep copies of tensors without numbers: made as any other tensor is, with a storage that their views share."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from torchmedic.checkups.memory.patches import Patches


def install_copies(patches: Patches) -> None:
    """torch would copy a storage, and with it the mode that the tensor belongs to."""
    original: Any = torch.Tensor.__deepcopy__

    def copied(self: torch.Tensor, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf or self.layout is not torch.strided:
            return original(self, memo)
        memo[id(self)] = made = _copy(self)
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        for name in self.__dict__.keys() - made.__dict__.keys():
            made.__dict__[name] = copy.deepcopy(self.__dict__[name], memo)
        return made

    patches.put(FakeTensor, "__deepcopy__", copied)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        made = tensor.clone()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)
