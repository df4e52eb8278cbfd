"""Where the CPU is counted as the card: true tensors that the script hands to its model, or writes results into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from torchmedic.checkups.memory.dimensions import Input
from torchmedic.checkups.memory.values import give_value, worth_keeping

if TYPE_CHECKING:
    from torchmedic.checkups.memory.patches import Patches
    from torchmedic.checkups.memory.world import World


_MOST_INPUTS = 64
_NOTED = "_torchmedic_noted"


def install_intake(patches: Patches, world: World) -> None:
    """Count what comes to the model, and let results be written into tensors that were true until then."""
    call: Any = torch.nn.Module._call_impl

    def handed(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        if not world.modules:
            for tensor in tensors_handed((args, kwargs)):
                count(world, tensor)
        return call(module, *args, **kwargs)

    patches.put(torch.nn.Module, "_call_impl", handed)
    for name in _changing():
        patches.put(torch.Tensor, name, _taking_in(world, getattr(torch.Tensor, name)))
    functions: Any = torch._VF
    patches.put(functions, "_pad_packed_sequence", _Padded(functions._pad_packed_sequence))
    nested: Any = torch._C._nn
    patches.put(nested, "pad_sequence", _Side(nested.pad_sequence))


def tensors_handed(given: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments, in objects of the user's and of libraries too."""
    for leaf in tree_leaves(given):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif isinstance(leaf, Mapping):
            yield from (item for item in leaf.values() if isinstance(item, torch.Tensor))
        else:
            yield from parts_of(leaf).values()


def is_graph(thing: Any) -> bool:
    """Whether it is a graph of PyG's."""
    return hasattr(thing, "edge_index") and hasattr(thing, "keys")


def parts_of(thing: Any) -> dict[str, torch.Tensor]:
    """The tensors that an object has by name: a graph of PyG's, or one of a class of the user's."""
    names = thing.keys() if is_graph(thing) else getattr(thing, "__dict__", {})
    named = {name: thing[name] if is_graph(thing) else thing.__dict__[name] for name in names}
    return {name: part for name, part in named.items() if isinstance(part, torch.Tensor)}


def count(world: World, tensor: torch.Tensor) -> None:
    """A tensor that the script uses where the CPU is the card: it would have moved it there."""
    if tensor.dim() and tensor.device.type == world.device:
        world.book(tensor, "", "data")
        if not tensor.__dict__.get(_NOTED):
            tensor.__dict__[_NOTED] = True
            note_input(world, tensor)


def take_in(world: World, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in its stead that has no numbers."""
    if isinstance(tensor, FakeTensor):
        return tensor
    made = world.make(tensor.shape, tensor.dtype, tensor.device)
    world.ledger.mark(made, "data")
    return made


def note_input(world: World, tensor: torch.Tensor) -> None:
    """Remember what the shape of a tensor tells about the data, if it is the script that brings it."""
    if type(tensor) is torch.Tensor and tensor.dim() and not world.modules and len(world.inputs) < _MOST_INPUTS:
        world.inputs.append(_as_input(tensor, in_step=world.ledger.phase == "data"))


def _as_input(tensor: torch.Tensor, *, in_step: bool) -> Input:
    """What the shape and the numbers of a tensor tell about the data."""
    pairs = tensor.dtype is torch.int64 and tensor.dim() == 2 and tensor.shape[0] == 2 and tensor.numel() > 0
    return Input(
        shape=tuple(tensor.shape),
        whole=not tensor.is_floating_point(),
        largest=int(tensor.max()) if pairs else -1,
        loops=int((tensor[0] == tensor[1]).sum()) if pairs else 0,
        selects=int(tensor.count_nonzero()) if tensor.dtype is torch.bool and tensor.dim() == 1 else -1,
        in_step=in_step,
    )


# -- writing into true tensors -------------------------------------------------------------------------------------


def _changing() -> list[str]:
    """The methods of tensors that change them and take other tensors."""
    plain = [name for name in dir(torch.Tensor) if name.endswith("_") and not name.startswith("_")]
    operators = ["__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ior__", "__iand__"]
    skipped = {"requires_grad_", "detach_", "share_memory_", "retain_grad_", "zero_", "resize_"}
    return [name for name in (*plain, *operators) if name not in skipped]


def _taking_in(world: World, method: Any) -> Any:
    def changed(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if type(self) is torch.Tensor and any(_is_fake(thing) for thing in (*args, *kwargs.values())):
            _become_fake(world, self)
        return method(self, *args, **kwargs)

    return changed


def _is_fake(thing: Any) -> bool:
    return isinstance(thing, FakeTensor) or (isinstance(thing, (tuple, list)) and any(_is_fake(one) for one in thing))


def _become_fake(world: World, tensor: torch.Tensor) -> None:
    from torchmedic.checkups.memory.pretending import become, fake_like

    if tensor.requires_grad or tensor.layout is not torch.strided:
        return
    base = tensor._base
    if base is not None:
        size, stride, offset = tensor.size(), tensor.stride(), tensor.storage_offset()
        if type(base) is torch.Tensor:
            _become_fake(world, base)
        become(tensor, base.as_strided(size, stride, offset))
        return
    made = fake_like(world, tensor)
    if worth_keeping(tensor):
        give_value(made, tensor.clone())
    become(tensor, made)
    count(world, tensor)


# -- functions that make a tensor and write into it ----------------------------------------------------------------


class _Padded:
    """`torch._VF._pad_packed_sequence`: the result is made where the data are."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __call__(self, data: Any, sizes: Any, batch_first: bool, value: float, total: int | None) -> Any:
        if not isinstance(data, FakeTensor):
            return self._original(data, sizes, batch_first, value, total)
        counts = sizes.tolist()
        steps = max(len(counts), total or 0)
        out = data.new_full((steps, counts[0], *data.shape[1:]), value)
        step = at = 0
        for count, run in groupby(counts):
            length = len(list(run))
            rows = data[at : at + length * count].view(length, count, *data.shape[1:])
            out[step : step + length, :count] = rows
            step, at = step + length, at + length * count
        lengths = (sizes[:, None] > torch.arange(counts[0])).sum(0)
        return (out.transpose(0, 1) if batch_first else out), lengths


class _Side:
    """`pad_sequence`: the same."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __call__(
        self, sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
    ) -> Any:
        given = list(sequences)
        if not any(isinstance(one, FakeTensor) for one in given) or padding_side != "right":
            return self._original(sequences, batch_first, padding_value, padding_side)
        fake = next(one for one in given if isinstance(one, FakeTensor))
        longest = max(one.shape[0] for one in given)
        shape = (len(given), longest) if batch_first else (longest, len(given))
        out = fake.new_full((*shape, *fake.shape[1:]), padding_value)
        for number, one in enumerate(given):
            out[(number, slice(0, one.shape[0])) if batch_first else (slice(0, one.shape[0]), number)] = one
        return out
