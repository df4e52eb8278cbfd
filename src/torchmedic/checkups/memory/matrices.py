"""Attention that is written out: what a fused kernel would not make, and what would be held with one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from torchmedic.checkups.memory.allocator import Block, CachingAllocator
from torchmedic.checkups.memory.attention import suits_fused
from torchmedic.checkups.memory.values import tensors_in
from torchmedic.facts.memory_plan import Matrices as Spared

if TYPE_CHECKING:
    from torchmedic.checkups.memory.cards import Card
    from torchmedic.checkups.memory.ledger import Holding, Ledger, Log, Origin
    from torchmedic.checkups.memory.world import World
    from torchmedic.facts import Location

aten = torch.ops.aten
_TAG, _WEIGHT = "_torchmedic_matrix", "_torchmedic_weight"
_WIDTHS = (1, 2, 4, 8)
_FLOAT = 4

_PRODUCTS = {aten.bmm.default: 0, aten.mm.default: 0, aten.baddbmm.default: 1, aten.addmm.default: 1}
_SCALED = {
    aten.mul.Tensor, aten.mul.Scalar, aten.mul_.Tensor, aten.mul_.Scalar,
    aten.div.Tensor, aten.div.Scalar, aten.div_.Tensor, aten.div_.Scalar,
}  # fmt: skip
_BIASED = {
    aten.add.Tensor, aten.add.Scalar, aten.add_.Tensor, aten.add_.Scalar,
    aten.sub.Tensor, aten.sub.Scalar, aten.sub_.Tensor, aten.sub_.Scalar,
    aten.masked_fill.Scalar, aten.masked_fill.Tensor, aten.masked_fill_.Scalar, aten.masked_fill_.Tensor,
    aten.where.self, aten.where.ScalarSelf, aten.where.ScalarOther,
}  # fmt: skip
_COPIED = {aten._to_copy.default, aten.clone.default, aten.nan_to_num.default}
_SEEN = {
    aten.view.default, aten._unsafe_view.default, aten.expand.default, aten.permute.default,
    aten.transpose.int, aten.t.default, aten.unsqueeze.default, aten.squeeze.default, aten.squeeze.dim,
    aten.squeeze.dims, aten.slice.Tensor, aten.select.int, aten.detach.default, aten.alias.default,
    aten._reshape_alias.default,
}  # fmt: skip
_SOFTMAX, _EXP, _DROPOUT = aten._softmax.default, aten.exp.default, aten.native_dropout.default
_FOLLOWED = {*_PRODUCTS, *_SCALED, *_BIASED, *_COPIED, *_SEEN, _SOFTMAX, _EXP, _DROPOUT}


@dataclass(eq=False, slots=True)
class Matrix:
    """The scores of one attention and all that is made of them; a kernel could stand for it if it is `fused`."""

    elements: int
    width: int
    where: Location | None
    biased: bool
    fused: bool = False
    rows: int = 0
    holdings: list[Holding] = field(default_factory=list)
    # The kernel keeps its result from its place in the log to where it is undone, in the order in which heads are
    # joined: where one joins them by a copy, the copy is the result.
    result: Holding | None = None
    begins: int = -1
    undone: int = -1

    def note(self, holding: Holding, elements: int) -> None:
        """A tensor that was made for it."""
        if elements == self.elements:
            self.holdings.append(holding)

    def note_bytes(self, holding: Holding, size: int) -> None:
        """What a kernel took for itself."""
        if any(size == self.elements * width for width in _WIDTHS):
            self.holdings.append(holding)


@dataclass(frozen=True, slots=True)
class Role:
    """What an operation is to a matrix: it makes one, its gradient is one, it brings the result."""

    matrix: Matrix
    forward: bool = True
    backward: bool = True
    closes: bool = False


@dataclass(frozen=True, slots=True)
class _Tag:
    """What a tensor is to a matrix: scores, exponentials, shares of the keys that its `axis` goes over, the result."""

    matrix: Matrix
    is_raised: bool = False
    is_normal: bool = False
    is_result: bool = False
    axis: int = -1


class Matrices:
    """Follows products of two activations over scale, mask, softmax and dropout to the product with the values."""

    def __init__(self, ledger: Ledger, card: Card) -> None:
        self._ledger, self._card = ledger, card
        self.found: list[Matrix] = []
        self._closing: Matrix | None = None
        self._copying: Matrix | None = None

    def seen(self, world: World, origin: Origin, func: Any, args: tuple[Any, ...], out: Any) -> Origin:
        """Look at an operation; where it belongs, with its role."""
        if world.backward.running and not torch.is_grad_enabled():
            return origin
        role = self._follow(func, args, out, origin.where)
        if role is None:
            return origin
        self._closing = role.matrix if role.closes else None
        placed = replace(origin, role=role)
        if role.backward and torch.is_grad_enabled():
            world.origins[torch._C._autograd._get_sequence_nr() - 1] = placed
        return placed if role.forward else origin

    def booked(self, origin: Origin, out: Any) -> None:
        """The result of that operation is in the books."""
        if self._closing is not None:
            self._closing.begins, self._closing.result = len(self._ledger.log), self._ledger.holding_of(out)
            self._closing = None
        elif self._copying is not None:
            self._copying.result, self._copying = self._ledger.holding_of(out), None
        elif origin.role is not None and origin.role.closes:
            origin.role.matrix.undone = len(self._ledger.log) - 1

    def spared(self, *, expandable: bool) -> Spared | None:
        """What is held at the peak for matrices that a kernel would not make, and the peaks with it."""
        if not self.found:
            return None
        allocator = with_kernels(self.found, self._ledger.log, expandable=expandable)
        at_peak = {id(holding) for holding in self._ledger.holdings_at_peak()}
        lines: Counter[Location | None] = Counter()
        for matrix in self.found:
            lines[matrix.where] += sum(holding.bytes for holding in matrix.holdings if id(holding) in at_peak)
        where, _ = lines.most_common(1)[0]
        return Spared(
            where=where,
            bytes=lines.total(),
            allocated=allocator.peak_allocated,
            reserved=allocator.peak_reserved,
        )

    def _follow(self, func: Any, args: tuple[Any, ...], out: Any, where: Location | None) -> Role | None:
        at = _PRODUCTS.get(func)
        if at is not None:
            left, right = args[at], args[at + 1]
            return self._closed(left, right, out) or self._opened(left, right, out, args[0], where)
        if func not in _FOLLOWED:
            return None
        source = next((t for t in tensors_in(args) if _TAG in t.__dict__), None)
        if source is None:
            if func in _COPIED | _SEEN and self._is_weight(args[0]):
                out.__dict__[_WEIGHT] = True
            return None
        given: _Tag = source.__dict__[_TAG]
        if given.is_result and func in _COPIED:
            self._copying = given.matrix
        tag = _passed_on(func, args, source, out)
        if tag is None:
            return None
        for made in tensors_in((out,)):
            made.__dict__[_TAG] = tag
        return None if tag.is_result else Role(tag.matrix)

    def _opened(self, left: Any, right: Any, out: Any, bias: Any, where: Location | None) -> Role | None:
        if self._is_weight(left) or self._is_weight(right):
            return None
        is_biased = bias is not left and bias.requires_grad
        matrix = Matrix(out.numel(), left.shape[-1], where, is_biased)
        out.__dict__[_TAG] = _Tag(matrix)
        return Role(matrix, backward=False)

    def _closed(self, left: Any, right: Any, out: Any) -> Role | None:
        for operand, axis, width in ((left, left.dim() - 1, right.shape[-1]), (right, right.dim() - 2, left.shape[-2])):
            tag = operand.__dict__.get(_TAG)
            if tag is None or not tag.is_normal or tag.axis != axis:
                continue
            matrix: Matrix = tag.matrix
            widths = (matrix.width, width)
            if matrix.fused or not suits_fused(self._card, out.dtype, widths, learned_bias=matrix.biased):
                return None
            matrix.fused, matrix.rows = True, operand.numel() // operand.shape[axis]
            self.found.append(matrix)
            out.__dict__[_TAG] = _Tag(matrix, is_result=True)
            return Role(matrix, forward=False, closes=True)
        return None

    def _is_weight(self, tensor: Any) -> bool:
        return _WEIGHT in tensor.__dict__ or self._ledger.category_of(tensor) == "parameters"


def _passed_on(func: Any, args: tuple[Any, ...], source: torch.Tensor, out: Any) -> _Tag | None:
    """What the result of an operation on a tensor with a tag is."""
    tag: _Tag = source.__dict__[_TAG]
    made = tensors_in((out,))[0]
    if func in _SEEN:
        axis = _found_again(source, tag.axis, made) if tag.is_normal else -1
        return replace(tag, axis=axis) if axis is not None else None
    if tag.is_result or made.shape != source.shape:
        return None
    if func is _EXP:
        return None if tag.is_normal else replace(tag, is_raised=True)
    if func is _SOFTMAX:
        return None if tag.is_normal else replace(tag, is_normal=True, axis=args[1] % made.dim())
    others = [t for t in tensors_in(args) if t is not source]
    if func in _SCALED:
        return _scaled(tag, source, others)
    return _biased(tag, source, others) if func in _BIASED else tag


def _scaled(tag: _Tag, source: torch.Tensor, others: list[torch.Tensor]) -> _Tag | None:
    """Exponentials over their sums are shares; a gate for each pair is nothing that a kernel has."""
    if tag.is_raised and not tag.is_normal:
        axis = _summed_axis(source, others)
        return replace(tag, is_normal=True, axis=axis) if axis is not None else None
    is_gated = any(other.requires_grad and other.dim() > 1 and min(other.shape[-2:]) > 1 for other in others)
    return None if is_gated else tag


def _biased(tag: _Tag, source: torch.Tensor, others: list[torch.Tensor]) -> _Tag:
    """Of what is added, that which learns asks for the matrix again, unless it is one number for each row."""
    tag.matrix.biased |= any(other.requires_grad and other.dim() and other.shape[-1] > 1 for other in others)
    return tag


def _summed_axis(source: torch.Tensor, others: list[torch.Tensor]) -> int | None:
    if len(others) != 1 or others[0].dim() != source.dim():
        return None
    axes = [axis for axis, length in enumerate(others[0].shape) if length != source.shape[axis]]
    return axes[0] if len(axes) == 1 else None


def _found_again(source: torch.Tensor, axis: int, view: torch.Tensor) -> int | None:
    """Where an axis of a tensor is in a view of it."""
    wanted = source.shape[axis], source.stride(axis)
    return next((d for d in reversed(range(view.dim())) if (view.shape[d], view.stride(d)) == wanted), None)


# -- what would be held ----------------------------------------------------------------------------------------------


def with_kernels(found: list[Matrix], log: Log, *, expandable: bool) -> CachingAllocator:
    """The allocator after all that was taken and given back, with a kernel in place of every matrix."""
    allocator = CachingAllocator(expandable=expandable)
    blocks: dict[int, Block] = {}
    for is_opened, key, size in _changed(found, log):
        if is_opened:
            blocks[key] = allocator.allocate(size)
        elif key in blocks:
            allocator.release(blocks.pop(key))
    return allocator


def _changed(found: list[Matrix], log: Log) -> Iterator[tuple[bool, int, int]]:
    """The log without the matrices; results are kept until they are undone, with a number for each row."""
    left_out = {id(holding) for matrix in found for holding in matrix.holdings}
    learning = [matrix for matrix in found if matrix.undone >= 0]
    begun = {matrix.begins: matrix for matrix in learning}
    undone = {matrix.undone: matrix for matrix in learning}
    kept = {id(matrix.result): matrix.undone for matrix in learning}
    late: dict[int, int] = {}
    for at, (is_opened, holding) in enumerate(log):
        if at in begun:
            yield True, id(begun[at]), begun[at].rows * _FLOAT
        if id(holding) not in left_out:
            if not is_opened and at < kept.get(id(holding), -1):
                late[kept[id(holding)]] = id(holding)
            else:
                yield is_opened, id(holding), holding.bytes
        if at in undone:
            yield False, id(undone[at]), 0
        if at in late:
            yield False, late.pop(at), 0
