"""Differences between answers and targets that a script takes by itself: how far the answers are out."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import HandDistance, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.record import Recorder

_FAR = 300.0  # times the largest target
_MOST_PER_STEP = 8
_MOST_PLACES = 4
_MOST_ELEMENTS = 2_000_000
# They lead from a difference to a distance, and along some dimensions to its sum.
_ON_THE_WAY = frozenset(
    ("pow", "square", "abs", "mul", "sqrt", "sum", "mean", "norm", "div", "view", "reshape", "flatten")
)


@late_dataclass()
class _Seen:
    call: Call
    fact: HandDistance


class HandDistances:
    """Notes, once the answers of a line were enormous, how they went on."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen: list[_Seen] = []
        self._places: set[Location] = set()

    def look(self, call: Call, args: tuple[Any, ...]) -> None:
        if call.name not in ("sub", "rsub") or len(args) < 2 or len(self._seen) >= _MOST_PER_STEP:
            return
        sides = [side for side in args[:2] if isinstance(side, torch.Tensor) and side.is_floating_point()]
        if len(sides) < 2 or sides[0].shape != sides[1].shape or sides[0].requires_grad == sides[1].requires_grad:
            return
        given, target = sides if sides[0].requires_grad else sides[::-1]
        place = call.place.location() if call.place is not None else None
        if place is None or not 1 < target.numel() <= _MOST_ELEMENTS or target.ndim == 0:
            return
        given, target = given.detach().double(), target.detach().double()
        if float(given.abs().max()) < _FAR * float(target.abs().max()) and place not in self._places:
            return
        distance = float((given - target).square().mean())
        fact = HandDistance(
            step=self._recorder.step,
            where=place,
            expression=call.place.expression() if call.place is not None else "",
            distance=distance,
            baseline=float(target.var(dim=0, unbiased=False).mean()),
        )
        self._seen.append(_Seen(call, fact))

    def close(self, trace: CallTrace) -> None:
        for seen in self._seen:
            place = seen.fact.where
            if place in self._places or (len(self._places) < _MOST_PLACES and _becomes_loss(trace, seen.call.index)):
                self._places.add(place)
                self._recorder.observe(seen.fact)
        self._seen.clear()


def _becomes_loss(trace: CallTrace, index: int) -> bool:
    """Whether a difference is made a distance and summed up to one number."""
    waiting, seen = [index], {index}
    while waiting and len(seen) < 100:
        for call in trace.readers(waiting.pop()):
            if call.shape == () and call.name in ("mean", "sum", "norm", "sqrt"):
                return True
            if call.name in _ON_THE_WAY and call.index not in seen:
                seen.add(call.index)
                waiting.append(call.index)
    return False
