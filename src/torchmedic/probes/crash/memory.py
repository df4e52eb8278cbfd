"""Counts the tensors on the card when it has run out of memory."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import torch
from torch.optim import Optimizer

from torchmedic.facts import BigTensor, MemoryAtCrash
from torchmedic.record import Probe

_LARGEST = 4


class MemoryLeft(Probe):
    """Speaks only of a crash for want of memory: counting takes a look at every live object."""

    name = "memory-left"

    def on_crash(self, error: BaseException) -> None:
        if isinstance(error, torch.OutOfMemoryError) and torch.cuda.is_available():
            seen = held_by_tensors("cuda", self.recorder.step or None)
            self.recorder.observe(seen)


def held_by_tensors(device: str, step: int | None) -> MemoryAtCrash:
    """Every live tensor of a device, each storage once, by what it is for."""
    objects = gc.get_objects()
    tensors = [thing for thing in objects if _is_tensor(thing) and thing.device.type == device]
    roles = {id(item): "optimizer state" for thing in objects if _is(thing, Optimizer) for item in _state(thing)}
    found: dict[int, tuple[str, torch.Tensor]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage().data_ptr()
        role = roles.get(id(tensor)) or ("parameters" if isinstance(tensor, torch.nn.Parameter) else "")
        if tensor.is_leaf and tensor.grad is not None:
            found[tensor.grad.untyped_storage().data_ptr()] = ("gradients", tensor.grad)
        if role or storage not in found:
            found[storage] = (role or "activations and other tensors", tensor)
    held: Counter[str] = Counter()
    for role, tensor in found.values():
        held[role] += tensor.untyped_storage().nbytes()
    largest = sorted(found.values(), key=lambda pair: -pair[1].untyped_storage().nbytes())[:_LARGEST]
    on_card = device == "cuda"
    return MemoryAtCrash(
        step=step,
        by_category=dict(held.most_common()),
        largest=tuple(_big(role, tensor) for role, tensor in largest),
        allocated=torch.cuda.memory_allocated() if on_card else sum(held.values()),
        reserved=torch.cuda.memory_reserved() if on_card else 0,
    )


def _is(thing: Any, kind: type) -> bool:
    """`isinstance` that does not wake proxies."""
    return issubclass(type(thing), kind)


def _is_tensor(thing: Any) -> bool:
    return _is(thing, torch.Tensor) and thing.layout is torch.strided and not torch.nn.parameter.is_lazy(thing)


def _state(optimizer: Any) -> list[Any]:
    return [item for state in optimizer.state.values() for item in state.values() if isinstance(item, torch.Tensor)]


def _big(role: str, tensor: torch.Tensor) -> BigTensor:
    return BigTensor(
        bytes=tensor.untyped_storage().nbytes(),
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        category=role,
        op="",
        module="",
    )
