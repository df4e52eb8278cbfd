"""What becomes of rows on the way to the loss: whether an index moves them, and out of which shape they are laid."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from torchmedic.probes.graph.calls import Call, CallTrace

_FLATTENING = frozenset(("view", "reshape", "flatten"))
_PASSING = frozenset(("contiguous", "float", "long", "to", "type", "squeeze"))
_MOST_INDICES = 100_000


class Pick(NamedTuple):
    """Whole rows picked by one index out of so many `rows`; `moves` says that they do not stay in their order."""

    rows: int
    moves: bool
    is_permutation: bool


def pick_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pick | None:
    """What `x[order]`, `x[order, :]` and `index_select(x, 0, order)` do; None for anything else.

    Several index tensors read one element for each of them: `x[rows, columns]` picks within rows.

    >>> x, order = torch.zeros(3, 2), torch.tensor([2, 0, 1])
    >>> pick_of((x, order), {}), pick_of((x, (order, torch.tensor([0, 1, 1]))), {})
    (Pick(rows=3, moves=True, is_permutation=True), None)
    """
    source = args[0] if args else kwargs.get("input")
    parts = _parts(args[1:], kwargs)
    if not isinstance(source, torch.Tensor) or not source.ndim or not parts:
        return None
    index, rest = parts[0], parts[1:]
    if not isinstance(index, torch.Tensor) or not all(_is_whole(part) for part in rest):
        return None
    if index.ndim != 1 or index.dtype not in (torch.int32, torch.int64) or not 1 < len(index) <= _MOST_INDICES:
        return None
    order = index.detach().cpu()
    count = torch.arange(source.shape[0], device="cpu")
    is_permutation = len(order) == len(count) and bool((order.sort().values == count).all())
    return Pick(source.shape[0], bool((order.diff() < 0).any()), is_permutation)


def _is_whole(part: Any) -> bool:
    """Whether an index leaves a dimension as it is; an array of NumPy must not be compared with a slice."""
    return part is Ellipsis or (isinstance(part, slice) and part == slice(None))


def _parts(rest: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The index, dimension by dimension, from the first on."""
    if len(rest) == 1 and not kwargs:
        return rest[0] if isinstance(rest[0], tuple) else (rest[0],)
    dim = rest[0] if rest else kwargs.get("dim")
    index = rest[1] if len(rest) > 1 else kwargs.get("index")
    return (index,) if dim == 0 else ()


def unrolled(trace: CallTrace, given: torch.Tensor, target: torch.Tensor) -> tuple[Call, Call] | None:
    """The two calls that laid the first two dimensions of the answers, and of the targets, into one."""
    calls = [_unrolling(trace, tensor) for tensor in (given, target)]
    return (calls[0], calls[1]) if calls[0] is not None and calls[1] is not None else None


def _unrolling(trace: CallTrace, tensor: torch.Tensor) -> Call | None:
    index = trace.maker_of(tensor)
    while index is not None:
        call = trace.calls[index]
        before = call.reads[0].shape if call.reads else ()
        if call.name in _FLATTENING and len(before) > 1 and call.shape[:1] == (before[0] * before[1],):
            return call
        if call.name not in _FLATTENING | _PASSING or not call.reads:
            return None
        index = call.reads[0].maker
    return None
