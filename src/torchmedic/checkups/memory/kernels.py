"""What CUDA's kernels take beside their results: workspaces that stay, and memory given back at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from torchmedic.checkups.memory.cards import Card
from torchmedic.checkups.memory.ledger import Origin

if TYPE_CHECKING:
    from torchmedic.checkups.memory.world import World

aten = torch.ops.aten
_LONG = 8
_CUBLASLT_WORKSPACE = 1 << 20

Sizes = Callable[[tuple[Any, ...], dict[str, Any], Any], list[int]]


class Kernels:
    """Knows the libraries' workspaces and the temporaries of kernels that are not seen as operations."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self._handles: set[tuple[bool, str]] = set()

    def extras(
        self, world: World, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, origin: Origin
    ) -> None:
        """Book what the kernel behind an operation takes in addition to its result."""
        if world.device != "cuda":
            return
        if func in _CUBLAS:
            self._open_handle(world, origin, "cublas", self.card.cublas_workspace)
        if func is aten.addmm.default and args[0].dim() == 1:
            self._open_handle(world, origin, "cublasLt", _CUBLASLT_WORKSPACE)
        sizes = _TEMPORARIES.get(func)
        if sizes is not None:
            world.ledger.pass_through(sizes(args, kwargs, out), origin, str(func), "workspace")

    def _open_handle(self, world: World, origin: Origin, library: str, workspace: int) -> None:
        """A handle for each thread, and each handle its workspace: backward has a thread of its own."""
        self.keep_once(world, origin, library, workspace, of_thread=world.backward.running)

    def keep_once(self, world: World, origin: Origin, what: str, size: int, *, of_thread: bool = False) -> None:
        """Memory that a library takes when it is first used, and keeps."""
        if (of_thread, what) not in self._handles:
            self._handles.add((of_thread, what))
            world.ledger.keep(size, origin, what, "workspace")


def _bytes(tensor: Any) -> int:
    return tensor.numel() * tensor.element_size() if isinstance(tensor, torch.Tensor) else 0


def _index_put(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    """Adding at indices sorts them: linear, sorted and original ones, a range, and the sort's own copies."""
    accumulate = args[3] if len(args) > 3 else kwargs.get("accumulate", False)
    if not accumulate:
        return []
    indices = [index for index in args[1] if index is not None]
    if not indices:
        return []
    count: int = torch.broadcast_shapes(*(index.shape for index in indices)).numel()  # type: ignore[no-untyped-call]
    expanded = [] if args[2].is_contiguous() else [_bytes(args[2])]
    return [*expanded, *[count * _LONG] * 4, 2 * count * _LONG]


def _embedding_backward(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    """Above some thousand indices they are sorted, and each run of equal ones is summed in pieces of ten."""
    grad, indices = args[0], args[1]
    count = indices.numel()
    if count <= 3072:
        return []
    sorting = [count * _LONG] * 3
    width = -(-out.shape[-1] // 32) * 32
    return [
        *sorting,
        2 * count * _LONG,
        count * 4,
        count * width * 4 if grad.dtype != torch.float64 else count * width * 8,
    ]


def _copied_for_tensor_cores(*tensors: Any) -> int:
    """Tensor cores want channels last: cuDNN copies what lies otherwise, operands and result."""
    first = tensors[0]
    if first.dtype is torch.float32 and not torch.backends.cudnn.allow_tf32:
        return 0
    if first.dtype is torch.float64 or first.dim() != 4 or first.is_contiguous(memory_format=torch.channels_last):
        return 0
    return sum(_bytes(t) for t in tensors)


def _convolution(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    """In float32 the forward kernels read what they get; those for half precision want it channels last."""
    groups = args[8]
    half = args[0].element_size() == 2
    return [_copied_for_tensor_cores(args[0], args[1], out)] if groups == 1 and half else []


def _convolution_backward(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    grad, data, weight, groups = args[0], args[1], args[2], args[9]
    return [_copied_for_tensor_cores(data, grad, weight)] if groups == 1 else []


def _sort(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    values, indices = out
    return [_bytes(values), 2 * _bytes(indices)] if values.dim() and values.shape[-1] > 1024 else []


def _softmax_backward(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    """The product of gradient and result is made first; the logarithm's kernel does without."""
    return [_bytes(args[0])]


_CUBLAS = {
    aten.mm.default,
    aten.addmm.default,
    aten.bmm.default,
    aten.baddbmm.default,
    aten.addmv.default,
    aten.mv.default,
    aten.dot.default,
    aten.addbmm.default,
    aten.linear.default,
    aten._addmm_activation.default,
}

_TEMPORARIES: dict[Any, Sizes] = {
    aten.index_put.default: _index_put,
    aten.index_put_.default: _index_put,
    aten._index_put_impl_.default: _index_put,
    aten.embedding_dense_backward.default: _embedding_backward,
    aten.convolution.default: _convolution,
    aten.convolution_backward.default: _convolution_backward,
    aten._softmax_backward_data.default: _softmax_backward,
    aten.sort.default: _sort,
    aten.sort.stable: _sort,
}
