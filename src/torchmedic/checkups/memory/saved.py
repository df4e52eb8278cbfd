"""Tensors that are saved and loaded: fake ones are written without numbers, those loaded to the card are pretended."""

from __future__ import annotations

import functools
import json
import struct
import sys
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from torchmedic.checkups.memory.overlay import Overlay
from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.values import give_value, value_of, worth_keeping
from torchmedic.checkups.memory.world import World

_CARD, _WHOLE = "_torchmedic_card", "_torchmedic_whole"
_world: list[World] = []
# Where what is being loaded goes to; empty where each tensor goes back to where it was.
_destination = ""


def install_saved(patches: Patches, world: World, overlay: Overlay | None) -> None:
    """Let `pickle`, `torch.save` and `torch.load` deal with tensors that have no numbers."""
    _world[:] = [world]
    patches.put(FakeTensor, "__reduce_ex__", _reduce)
    patches.put(torch.UntypedStorage, "data_ptr", _address(torch.UntypedStorage.data_ptr))
    patches.put(FakeTensor, "data_ptr", _address_of_fake)
    torch.serialization.add_safe_globals([_revived])
    if world.device == "cuda":
        _load_to_card(patches, world)
    if overlay is not None:
        lead_torch(patches, overlay)


def adapt_safetensors() -> None:
    """Let safetensors write a file of the right form for tensors that have no numbers; it takes no room on the disk."""
    library: Any = sys.modules["safetensors.torch"]
    save_file, save, names = library.save_file, library.save, {kind: name for name, kind in library._TYPES.items()}

    def file_saved(tensors: dict[str, Any], filename: Any, metadata: Any = None) -> None:
        if not any(isinstance(one, FakeTensor) for one in tensors.values()):
            save_file(tensors, filename, metadata)
            return
        head, size = _header(tensors, metadata, names)
        with open(filename, "wb") as file:
            file.write(head)
            file.truncate(len(head) + size)

    def saved(tensors: dict[str, Any], metadata: Any = None) -> bytes:
        if not any(isinstance(one, FakeTensor) for one in tensors.values()):
            return bytes(save(tensors, metadata))
        head, size = _header(tensors, metadata, names)
        return head + bytes(size)

    library.save_file, library.save = file_saved, saved


def _header(tensors: dict[str, Any], metadata: Any, names: dict[torch.dtype, str]) -> tuple[bytes, int]:
    """What stands before the numbers in such a file, and the bytes of the numbers."""
    table: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.numel() * tensor.element_size()
        table[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, end


def lead_torch(patches: Patches, overlay: Overlay) -> None:
    """torch opens files by itself, past Python's `open`."""
    save, load = torch.save, torch.load

    @functools.wraps(save)
    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        save(obj, f if hasattr(f, "write") else overlay.changed(f, keep=False), *args, **kwargs)

    @functools.wraps(load)
    def loaded(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        global _destination
        _destination = str(map_location) if isinstance(map_location, (str, torch.device)) else ""
        try:
            return load(f if hasattr(f, "read") else overlay.seen(f), map_location, *args, **kwargs)
        finally:
            _destination = ""

    patches.put(torch, "save", saved)
    patches.put(torch, "load", loaded)


def _address(true: Any) -> Any:
    """Libraries tell by their addresses which tensors share memory: storages without memory have one of their own."""

    def data_ptr(storage: Any) -> int:
        return int(storage._cdata if storage.device.type == "meta" else true(storage))

    return data_ptr


def _address_of_fake(tensor: FakeTensor) -> int:
    return int(tensor.untyped_storage().data_ptr() + tensor.storage_offset() * tensor.element_size())


# -- without numbers ---------------------------------------------------------------------------------------------------


def _reduce(tensor: FakeTensor, _protocol: Any) -> Any:
    value = value_of(tensor)
    known = value.clone() if value is not None else None
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    form = tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype, str(tensor.fake_device)
    return _revived, (*form, tensor.requires_grad, is_parameter, known)


def _revived(
    shape: Any, stride: Any, dtype: Any, device: str, requires_grad: bool, is_parameter: bool, value: Any
) -> torch.Tensor:
    world = _world[0]
    made = _empty(world, shape, stride, dtype, torch.device(_destination or device))
    if value is not None:
        give_value(made, value)
    return torch.nn.Parameter(made, requires_grad) if is_parameter else made.requires_grad_(requires_grad)


def _empty(world: World, shape: Any, stride: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    with _disable_current_modes(), world.fake:
        made = torch.empty_strided(shape, stride, dtype=dtype, device=device)
    if device.type == world.device:
        world.ledger.add(made, world.origin(), "load")
    return made


# -- to the card -------------------------------------------------------------------------------------------------------


def _load_to_card(patches: Patches, world: World) -> None:
    """A storage that would go to the card is marked, stays here, and the tensors made of it are pretended."""
    storage, utils = torch.UntypedStorage, torch._utils
    to: Any = storage.to
    rebuild: Any = utils._rebuild_tensor
    rebuild_of_dtype: Any = utils._rebuild_tensor_v3

    def moved(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if torch.device(device).type != "cuda":
            return to(self, device=device, non_blocking=non_blocking)
        setattr(self, _CARD, True)
        return self

    def to_card(self: Any, _device: Any = None, _non_blocking: bool = False) -> Any:
        return moved(self, device="cuda")

    @functools.wraps(rebuild)
    def rebuilt(storage: Any, offset: int, size: Any, stride: Any) -> Any:
        return _on_card(world, storage._untyped_storage, rebuild(storage, offset, size, stride))

    @functools.wraps(rebuild_of_dtype)
    def rebuilt_of_dtype(storage: Any, *args: Any, **kwargs: Any) -> Any:
        return _on_card(world, storage._untyped_storage, rebuild_of_dtype(storage, *args, **kwargs))

    patches.put(storage, "to", moved)
    patches.put(storage, "cuda", to_card)
    patches.put(utils, "_rebuild_tensor", rebuilt)
    patches.put(utils, "_rebuild_tensor_v3", rebuilt_of_dtype)


def _on_card(world: World, storage: Any, tensor: torch.Tensor) -> torch.Tensor:
    if not getattr(storage, _CARD, False):
        return tensor
    whole = _whole_on_card(world, storage, tensor)
    with world.fake:
        flat = whole.as_strided((storage.nbytes() // whole.dtype.itemsize,), (1,), 0)
        made = flat.view(tensor.dtype).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    # The old format reads the numbers after the tensors are made.
    if worth_keeping(tensor) and not getattr(storage, "_torch_load_uninitialized", False):
        give_value(made, tensor.detach())
    return made


def _whole_on_card(world: World, storage: Any, tensor: torch.Tensor) -> torch.Tensor:
    """The storage on the card, once for all tensors that share it."""
    whole: torch.Tensor | None = getattr(storage, _WHOLE, None)
    if whole is None:
        fills = tensor.is_contiguous() and tensor.numel() * tensor.itemsize == storage.nbytes()
        shape = tensor.shape if fills else (storage.nbytes() // tensor.itemsize,)
        stride = tensor.stride() if fills else (1,)
        whole = _empty(world, shape, stride, tensor.dtype, torch.device("cuda", 0))
        world.is_named = True
        setattr(storage, _WHOLE, whole)
    return whole
