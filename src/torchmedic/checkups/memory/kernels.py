"""What CUDA's kernels take beside their results: workspaces that stay, and memory given back at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from torchmedic.checkups.memory.cards import Card
from torchmedic.checkups.memory.convolutions import backward_workspaces, forward_workspace
from torchmedic.checkups.memory.ledger import Origin

if TYPE_CHECKING:
    from torchmedic.checkups.memory.world import World

aten = torch.ops.aten
_LONG = 8
_FLOAT = 4
# How reductions are laid out: columns that a thread adds at once, threads of a warp, rows for which a block is worth
# its while, blocks that a multiprocessor runs side by side.
_AT_ONCE, _WARP, _ROWS_OF_BLOCK, _BLOCKS_OF_PROCESSOR = 4, 32, 64, 16
_CUBLASLT_WORKSPACE = 1 << 20

Sizes = Callable[[tuple[Any, ...], dict[str, Any], Any], list[int]]


class Kernels:
    """Knows the libraries' workspaces and the temporaries of kernels that are not seen as operations."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self._handles: set[tuple[bool, str]] = set()
        self._said: set[str] = set()

    def extras(
        self, world: World, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, origin: Origin
    ) -> None:
        """Book what the kernel behind an operation takes in addition to its result."""
        if func in _CUBLAS:
            self._open_handle(world, "cublas", self.card.cublas_workspace)
        if func is aten.addmm.default and args[0].dim() == 1:
            self._open_handle(world, "cublasLt", _CUBLASLT_WORKSPACE)
        sizes = _TEMPORARIES.get(func)
        if sizes is not None:
            world.ledger.pass_through(sizes(args, kwargs, out), origin, str(func), "workspace")
        if func in _SUMS:
            buffer = sum_buffer(args[0], args[1] if len(args) > 1 else None, self.card.processors)
            world.ledger.pass_through([buffer], origin, str(func), "workspace")
        if func is aten.convolution.default and torch.backends.cudnn.benchmark:
            self._say_once(world, "`cudnn.benchmark` is on: what its first trials of kernels take is not known")
        if func is aten.convolution_backward.default:
            # One kernel after the other: the second does not fit where the first had its room.
            with world.ledger.taken_meanwhile(_copies_of(*args[:2]), origin, str(func), "workspace"):
                for size in backward_workspaces(args):
                    world.ledger.pass_through([size], origin, str(func), "workspace")

    def _open_handle(self, world: World, library: str, workspace: int) -> None:
        """A handle for each thread, and each handle its workspace: backward has a thread of its own."""
        self.keep_once(world, library, workspace, of_thread=world.backward.running)

    def _say_once(self, world: World, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            world.assume(what)

    def keep_once(self, world: World, what: str, size: int, *, of_thread: bool = False) -> None:
        """Memory that a library takes when it is first used, and keeps; no line or module is to blame for it."""
        if (of_thread, what) not in self._handles:
            self._handles.add((of_thread, what))
            world.ledger.keep(size, what, "workspace")


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


def sum_buffer(data: torch.Tensor, dims: Any, processors: int) -> int:
    """Sums over leading dimensions (of a bias' gradient, say) are split among blocks of threads.

    Each has 64 rows, and room for far more than its columns.
    """
    if not dims or not data.is_contiguous() or data.element_size() > _FLOAT:
        return 0
    reduced = sorted(d % data.dim() for d in dims)
    if reduced != list(range(len(reduced))) or len(reduced) == data.dim():
        return 0
    rows = math.prod(data.shape[: len(reduced)])
    columns = math.prod(data.shape[len(reduced) :])
    if columns % _AT_ONCE or rows < 2 * _ROWS_OF_BLOCK or columns < _AT_ONCE * _WARP:
        return 0
    wide = -(-columns // (_AT_ONCE * _WARP))
    blocks = min(-(-rows // _ROWS_OF_BLOCK), -(-processors * _BLOCKS_OF_PROCESSOR // wide))
    return blocks * _AT_ONCE * _WARP * columns * _FLOAT if blocks > 1 else 0


def _copies_of(*given: Any) -> list[int]:
    """Bytes of what does not lie in one piece, such as a part of a concatenation: many kernels copy it first."""
    return [_bytes(tensor) for tensor in given if isinstance(tensor, torch.Tensor) and not _is_in_one_piece(tensor)]


def _is_in_one_piece(tensor: torch.Tensor) -> bool:
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    return tensor.is_contiguous() or (last is not None and tensor.is_contiguous(memory_format=last))


def _first_copied(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    return _copies_of(args[0])


def _first_two_copied(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    return _copies_of(*args[:2])


def _sort(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    values, indices = out
    return [_bytes(values), 2 * _bytes(indices)] if values.dim() and values.shape[-1] > 1024 else []


def _softmax_backward(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> list[int]:
    """The product of gradient and result is made first; the logarithm's kernel does without."""
    return [*_copies_of(*args[:2]), _bytes(args[0])]


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

_SUMS = {aten.sum.dim_IntList, aten.mean.dim}

# Kernels that want what they read in one piece; backward, the gradient first and then what it is the gradient of.
_COPYING = (
    aten._softmax.default,
    aten._log_softmax.default,
    aten.native_layer_norm.default,
    aten.max_pool2d_with_indices.default,
    aten.avg_pool2d.default,
    aten.upsample_nearest2d_backward.default,
    aten.upsample_bilinear2d_backward.default,
    aten.upsample_bicubic2d_backward.default,
    aten.upsample_trilinear3d_backward.default,
)
_COPYING_BOTH = (
    aten._log_softmax_backward_data.default,
    aten.native_layer_norm_backward.default,
    aten.max_pool2d_with_indices_backward.default,
    aten.avg_pool2d_backward.default,
)

_TEMPORARIES: dict[Any, Sizes] = {
    aten.index_put.default: _index_put,
    aten.index_put_.default: _index_put,
    aten._index_put_impl_.default: _index_put,
    aten.embedding_dense_backward.default: _embedding_backward,
    aten.convolution.default: lambda args, _kwargs, out: [*_copies_of(args[0]), forward_workspace(args, out)],
    aten._softmax_backward_data.default: _softmax_backward,
    aten.sort.default: _sort,
    aten.sort.stable: _sort,
    **dict.fromkeys(_COPYING, _first_copied),
    **dict.fromkeys(_COPYING_BOTH, _first_two_copied),
}
