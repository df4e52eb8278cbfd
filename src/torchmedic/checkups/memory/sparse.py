"""Sparse gradients: fake tensors forget how many entries they have, so the operations of optimizers are done here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchmedic.checkups.memory.values import value_of

if TYPE_CHECKING:
    from torchmedic.checkups.memory.world import World

aten = torch.ops.aten
_ALIASES = {aten.detach.default, aten.alias.default, aten.lift_fresh.default}
_COPIES = {aten.clone.default, aten._to_copy.default}
_LONG = 8
_INDICES = "_torchmedic_indices"


def remember_indices(made: Any, args: tuple[Any, ...]) -> None:
    """A sparse tensor that is built keeps the true indices, where they are known, for the day it is coalesced."""
    known = next((value_of(a) for a in args if isinstance(a, torch.Tensor) and a.dtype is torch.int64), None)
    if known is not None:
        made.__dict__[_INDICES] = known


def is_sparse(thing: Any) -> bool:
    return isinstance(thing, torch.Tensor) and thing.layout is torch.sparse_coo


def on_sparse(world: World, func: Any, args: tuple[Any, ...]) -> Any:
    """The result of an operation on a sparse tensor, or None for those that fake tensors get right."""
    if func is aten.sparse_mask.default:
        mask = args[1]
        values = _new(world, mask._values(), mask._nnz(), func)
        return _made(world, mask._indices(), values, mask.shape)
    tensor = args[0]
    if func is aten.add_.Tensor and not is_sparse(tensor):
        return tensor
    if func in (aten.add.Tensor, aten.add_.Tensor) and is_sparse(tensor) and is_sparse(args[1]):
        count = tensor._nnz() + args[1]._nnz()
        joined = [_new(world, part, count, func) for part in _parts(tensor)]
        return _made(world, joined[0], joined[1], tensor.shape)
    if func in _ALIASES:
        return _like(tensor, _made(world, *_parts(tensor), tensor.shape, tensor.is_coalesced()))
    if func in _COPIES:
        parts = [_new(world, part, part.shape[-1 if i == 0 else 0], func) for i, part in enumerate(_parts(tensor))]
        return _like(tensor, _made(world, parts[0], parts[1], tensor.shape, tensor.is_coalesced()))
    if func is aten._coalesce.default:
        return _coalesced(world, tensor, func)
    return None


def _coalesced(world: World, tensor: Any, func: Any) -> Any:
    """Entries of one index are added up: the indices are sorted, and new ones and values are made."""
    indices, values = _parts(tensor)
    known = tensor.__dict__.get(_INDICES)
    count = (
        int(torch.unique(known.reshape(indices.shape[0], -1), dim=1).shape[1]) if known is not None else tensor._nnz()
    )
    world.ledger.pass_through([3 * tensor._nnz() * _LONG], world.origin(), str(func), "workspace")
    made = _new(world, indices, count, func, last=True), _new(world, values, count, func)
    return _made(world, made[0], made[1], tensor.shape, coalesced=True)


def _like(tensor: Any, made: Any) -> Any:
    if _INDICES in tensor.__dict__:
        made.__dict__[_INDICES] = tensor.__dict__[_INDICES]
    return made


def _parts(tensor: Any) -> tuple[Any, Any]:
    return tensor._indices(), tensor._values()


def _new(world: World, like: torch.Tensor, count: int, func: Any, *, last: bool = False) -> torch.Tensor:
    shape = (*like.shape[:-1], count) if last or like.dtype is torch.int64 else (count, *like.shape[1:])
    return world.make(shape, like.dtype, like.device, str(func))


def _made(world: World, indices: Any, values: Any, shape: Any, coalesced: bool = False) -> Any:
    with world.fake:
        return aten._sparse_coo_tensor_with_dims_and_tensors(
            indices.shape[0], len(shape) - indices.shape[0], shape, indices, values,
            dtype=values.dtype, layout=torch.sparse_coo, device=values.device, is_coalesced=coalesced,
        )  # fmt: skip
