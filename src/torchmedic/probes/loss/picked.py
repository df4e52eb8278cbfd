"""Scores of choices: is the one that was made picked along the dimension that the softmax runs over?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchmedic.facts import PickedAcross, PickedMixed, Producer
from torchmedic.probes.graph.calls import ELEMENTWISE, LONGEST_WAY, Call, CallTrace
from torchmedic.probes.loss.looks import MOST_ELEMENTS, mixed_by_view, sums_to_one
from torchmedic.record import Recorder

_SOFTMAXES = ("softmax", "log_softmax")
_PASSED = ELEMENTWISE | {
    "clone",
    "contiguous",
    "to",
    "double",
    "half",
    "bfloat16",
    "clip",
    "broadcast_tensors",
    "clamp",
}
_PRODUCTS = frozenset(("mul", "rmul"))
_MOST_FACTS = 8


class PickedScores:
    """Looks at the picks of an examined step.

    They are `gather` with one index for each row, `scores[rows, choices]`, and the product with a table of 0 and 1.
    """

    def __init__(self, recorder: Recorder, producer: Callable[[Call | None], Producer | None]) -> None:
        self._recorder = recorder
        self._producer = producer
        self._facts = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if call.name not in {"gather", "getitem", *_PRODUCTS} or self._facts >= _MOST_FACTS:
            return
        given, *rest = args if call.name not in _PRODUCTS or _is_learned(args[0]) else args[::-1]
        if not _is_learned(given) or given.ndim < 2:
            return
        if call.name in _PRODUCTS:
            picked = _marked(given, rest[0])
        else:
            picked = _gathered(given, args, kwargs) if call.name == "gather" else _indexed(given, args)
        softmax = _softmax_behind(trace, call, tuple(given.shape)) if picked is not None else None
        if picked == 1 and given.ndim == 2 and call.name not in _PRODUCTS:
            self._look_for_mix(trace, call, given, softmax)
        if picked is None or softmax is None:
            return
        dim = softmax.options.get("dim")
        producer = self._producer(softmax)
        if not isinstance(dim, int) or dim % given.ndim == picked or producer is None:
            return
        self._facts += 1
        self._recorder.observe(
            PickedAcross(
                step=self._recorder.step,
                softmax=producer,
                shape=tuple(given.shape),
                dim=dim % given.ndim,
                picked_dim=picked,
                picked_at=call.place.location() if call.place else None,
                picked_by=call.place.expression() if call.place else call.name,
            )
        )

    def _look_for_mix(self, trace: CallTrace, call: Call, given: torch.Tensor, after: Call | None) -> None:
        """Rows that a view cut out of scores with their classes elsewhere, before or after the softmax over these."""
        start = after.reads[0].maker if after is not None and after.reads else trace.maker_of(given)
        mixed = mixed_by_view(trace, start, given.shape[1])
        producer = self._producer(mixed[0]) if mixed is not None else None
        if mixed is None or producer is None or not (after is not None or _is_over_classes(trace, mixed[0])):
            return
        self._facts += 1
        self._recorder.observe(
            PickedMixed(
                step=self._recorder.step,
                cut=producer,
                before=mixed[1],
                shape=tuple(given.shape),
                picked_at=call.place.location() if call.place else None,
                picked_by=call.place.expression() if call.place else call.name,
            )
        )


def _is_over_classes(trace: CallTrace, view: Call) -> bool:
    """Whether what a view cuts up was made by a softmax along dimension 1."""
    softmax = _softmax_behind(trace, view, view.reads[0].shape)
    return softmax is not None and softmax.options.get("dim") in (1, 1 - len(view.reads[0].shape))


def _gathered(given: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """The dimension along which `gather` takes one value for all others."""
    dim = args[1] if len(args) > 1 else kwargs.get("dim")
    index = args[2] if len(args) > 2 else kwargs.get("index")
    if not isinstance(dim, int) or not isinstance(index, torch.Tensor):
        return None
    wanted = list(given.shape)
    wanted[dim % given.ndim] = 1
    return dim % given.ndim if list(index.shape) == wanted and index.shape != given.shape else None


def _indexed(given: torch.Tensor, args: tuple[Any, ...]) -> int | None:
    """`scores[torch.arange(rows), choices]` picks along the second dimension."""
    index = args[1] if len(args) > 1 else None
    if not isinstance(index, tuple) or len(index) != 2 or given.ndim != 2:
        return None
    rows = list(index[0]) if isinstance(index[0], (range, list)) else _listed(index[0])
    choices = index[1] if isinstance(index[1], list) else _listed(index[1])
    return 1 if rows == list(range(len(given))) and len(choices) == len(rows) else None


def _marked(given: torch.Tensor, table: Any) -> int | None:
    """The one dimension along which a table of the same shape holds a single 1, the rest being 0.

    What is not so along all others is no mask that happens to keep one of each; scores that were made to add up to 1
    along this dimension are right.
    """
    if not isinstance(table, torch.Tensor) or table.requires_grad or table.shape != given.shape:
        return None
    if not 1 < given.numel() <= MOST_ELEMENTS or bool(((table != 0) & (table != 1)).any()):
        return None
    single = [dim for dim in range(table.ndim) if table.shape[dim] > 1 and bool((table.sum(dim) == 1).all())]
    return single[0] if len(single) == 1 and single[0] not in sums_to_one(given.detach())[0] else None


def _is_learned(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _listed(index: Any) -> list[Any]:
    return index.detach().tolist() if isinstance(index, torch.Tensor) and index.ndim == 1 else []


def _softmax_behind(trace: CallTrace, call: Call, shape: tuple[int, ...]) -> Call | None:
    """The softmax whose values were picked, seen through what works on each value alone."""
    for _ in range(LONGEST_WAY):
        sides = [read.maker for read in call.reads if read.requires_grad and read.shape == shape]
        maker = next((side for side in sides if side is not None), None)
        if maker is None:
            return None
        call = trace.calls[maker]
        if call.name in _SOFTMAXES:
            return call
        if call.name not in _PASSED:
            return None
    return None
