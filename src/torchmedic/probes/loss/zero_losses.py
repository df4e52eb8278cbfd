"""A loss that is exactly 0: which call of the step made the zero, and who put the infinity there that it got."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchmedic.facts import ZeroLoss
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import ELEMENTWISE, TRANSPARENT, Call, CallTrace
from torchmedic.probes.loss.looks import MOST_ELEMENTS
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_HINGES = frozenset(("relu", "clamp", "clamp_min", "clip", "threshold"))
_LARGER = frozenset(("max", "maximum"))
_PRODUCTS = frozenset(("mul", "rmul", "imul"))
_FILLING = frozenset(("fill", "masked_fill", "fill_diagonal", "where", "full", "full_like", "index_fill"))
_PASSED = ELEMENTWISE | TRANSPARENT | {"mean", "sum", "stack", "cat", "iadd", "imul", "max"}
_MOST_FACTS = 12


@late_dataclass()
class _Zero:
    """A call whose result is 0 throughout, because of what it was given."""

    why: str
    values: int
    highest: float | None = None
    infinite: int = 0


class ZeroLosses:
    """Remembers the calls of an examined step that made nothing but zeros; a backward from 0 asks for them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._zeros: dict[int, _Zero] = {}
        self._fills: list[Call] = []
        self._told = 0

    def look(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if call.name in _FILLING and any(_is_infinite(value) for value in (*args, *kwargs.values())):
            self._fills.append(call)
        if not isinstance(result, torch.Tensor) or not result.requires_grad or result.numel() > MOST_ELEMENTS:
            return
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        zero = _zero(call.name, tensors, result)
        if zero is not None:
            self._zeros[call.index] = zero

    def close(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        root = roots[0] if len(roots) == 1 else None
        is_one = isinstance(root, torch.Tensor) and root.numel() == 1
        if root is not None and is_one and self._zeros and self._told < _MOST_FACTS and float(root.detach()) == 0:
            self._tell(trace, trace.maker_of(root))
        self._zeros.clear()
        self._fills.clear()

    def _tell(self, trace: CallTrace, index: int | None) -> None:
        """All ways back from the loss end at zeros of this kind: the latest one is told."""
        found, waiting, seen = [], [index], 0
        while waiting:
            at, seen = waiting.pop(), seen + 1
            call = trace.calls[at] if at is not None else None
            if call is None or seen > 200 or (call.index not in self._zeros and call.name not in _PASSED):
                return
            if call.index in self._zeros:
                found.append(call)
            else:
                waiting += [read.maker for read in call.reads if read.requires_grad]
        call = max(found, key=lambda one: one.index, default=None)
        if call is None or call.place is None:
            return
        zero = self._zeros[call.index]
        fill = self._filled(trace, call) if zero.infinite else None
        self._told += 1
        self._recorder.observe(
            ZeroLoss(
                step=self._recorder.step,
                why=zero.why,
                op=call.name,
                where=call.place.location(),
                expression=call.place.expression(),
                given=(*operand_names(call.place.expression()), "")[0],
                values=zero.values,
                highest=zero.highest,
                infinite=zero.infinite,
                filled=fill.place.location() if fill is not None and fill.place else None,
                filled_text=fill.place.expression() if fill is not None and fill.place else "",
            )
        )

    def _filled(self, trace: CallTrace, call: Call) -> Call | None:
        """The latest call that wrote infinities into what this one was computed from, or into a view of it."""
        behind = trace.ancestors(call.index)
        return next((fill for fill in reversed(self._fills) if _is_behind(trace, fill, behind)), None)


def _is_behind(trace: CallTrace, fill: Call, behind: set[int]) -> bool:
    index: int | None = fill.index
    while index is not None:
        if index in behind:
            return True
        call = trace.calls[index]
        index = call.reads[0].maker if call.reads else None
    return False


def _is_infinite(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.ndim == 0 and value.is_floating_point() and bool(torch.isinf(value))
    return isinstance(value, float) and math.isinf(value)


def _zero(name: str, tensors: list[torch.Tensor], result: torch.Tensor) -> _Zero | None:
    """Why a result holds nothing but zeros: a hinge on its flat side, a factor of 0, a sum over nothing."""
    learned = [one for one in tensors if one.requires_grad]
    if len(learned) != 1 or not result.numel() or bool((result != 0).any()):
        return None
    given, others = learned[0].detach(), [one for one in tensors if not one.requires_grad]
    if (name in _HINGES or (name in _LARGER and len(tensors) == 2)) and given.numel():
        # Finite values below a hinge may simply be right from the first step on.
        infinite = int(torch.isinf(given).sum())
        is_flat = infinite > 0 and float(given.max()) <= 0
        return _Zero("hinge", given.numel(), float(given.max()), infinite) if is_flat else None
    if name in _PRODUCTS and others and others[0].numel() and not bool((others[0] != 0).any()):
        return _Zero("zeros", given.numel())
    if name == "sum" and not given.numel():
        return _Zero("empty", 0)
    return None
