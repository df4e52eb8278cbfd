"""Values that leave the card: as arrays, lists, texts, or as numbers in a list of them."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.values import value_of
from torchmedic.checkups.memory.world import World


def let_values_out(patches: Patches, world: World) -> None:
    """Where torch would look into a tensor past every operation, give it the numbers that are known or assumed."""

    def outward(tensor: torch.Tensor) -> torch.Tensor:
        value = value_of(tensor)
        if value is None:
            world.assume("numbers computed on the card are read; taken for zeros")
            value = torch.zeros(tensor.shape, dtype=tensor.dtype)
        return value

    numpy, tolist = torch.Tensor.numpy, torch.Tensor.tolist
    array: Any = torch.Tensor.__array__

    def to_numpy(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return numpy(outward(self) if isinstance(self, FakeTensor) else self, *args, **kwargs)

    def to_list(self: torch.Tensor) -> Any:
        return tolist(outward(self) if isinstance(self, FakeTensor) else self)

    def to_array(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return array(outward(self) if isinstance(self, FakeTensor) else self, *args, **kwargs)

    for name, function in (("numpy", to_numpy), ("tolist", to_list), ("__array__", to_array)):
        patches.put(torch.Tensor, name, function)
    _let_texts_out(patches)
    _let_lists_in(patches)


def _let_texts_out(patches: Patches) -> None:
    """torch shows the number of a plain tensor without dimensions, and an object's name of all others."""
    plain: Any = torch.Tensor.__format__

    def formatted(self: torch.Tensor, specification: str) -> str:
        if isinstance(self, FakeTensor) and self.dim() == 0 and not isinstance(self, torch.nn.Parameter):
            return format(self.item(), specification)
        text: str = plain(self, specification)
        return text

    patches.put(torch.Tensor, "__format__", formatted)


def _let_lists_in(patches: Patches) -> None:
    """A tensor made of a list of others reads their numbers where no mode sees it."""
    for name in ("tensor", "as_tensor"):
        make: Any = getattr(torch, name)

        def made(data: Any, *args: Any, _make: Any = make, **kwargs: Any) -> Any:
            return _make(_with_numbers(data) if isinstance(data, (list, tuple)) else data, *args, **kwargs)

        patches.put(torch, name, made)


def _with_numbers(data: Any) -> Any:
    if isinstance(data, FakeTensor):
        return data.item() if data.dim() == 0 else data.tolist()
    if isinstance(data, (list, tuple)) and any(isinstance(one, (list, tuple, FakeTensor)) for one in data):
        return [_with_numbers(one) for one in data]
    return data
