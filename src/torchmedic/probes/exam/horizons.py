"""How far a schedule reaches: after how many calls its rate stands still, and after how many it is highest."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from torch.optim import lr_scheduler

from torchmedic.probes.source.asking import may_be_asked

_FAR = 1 << 22
_LONGEST = 0.05
_NEARLY = 1e-3
_TAIL = 1.2  # A decay by a constant factor comes near its end long before it is there; a length is kept to.

Factor = Callable[[int], float]


class _TooSlow(Exception):
    """Asking ahead would be felt."""


def reach_of(scheduler: Any) -> tuple[int, int]:
    """The calls after which the rate moves no more, and those until it is highest; 0 where there is no such call."""
    if isinstance(scheduler, lr_scheduler.SequentialLR):
        return _reach_of_parts(scheduler)
    if isinstance(scheduler, lr_scheduler.LinearLR):
        return scheduler.total_iters, scheduler.total_iters if scheduler.start_factor < scheduler.end_factor else 0
    if isinstance(scheduler, lr_scheduler.CosineAnnealingLR):
        return scheduler.T_max, 0
    functions = getattr(scheduler, "lr_lambdas", None) if isinstance(scheduler, lr_scheduler.LambdaLR) else None
    try:
        if not functions or not all(map(may_be_asked, functions)):
            return 0, 0
        factor = _hurried(functions[0])
        return _length(factor) or _half_cycle(factor), _peak(factor)
    except Exception:  # noqa: BLE001 - what the function does not know of later calls, it does not tell
        return 0, 0


def _reach_of_parts(scheduler: Any) -> tuple[int, int]:
    """Of schedules that take turns: the last one ends it, and a first one that rises to its end warms up."""
    parts, turns = scheduler._schedulers, scheduler._milestones
    length, first = reach_of(parts[-1])[0], reach_of(parts[0])[1]
    return turns[-1] + length if length else 0, first if first == turns[0] else 0


def _hurried(function: Any) -> Factor:
    ends = time.perf_counter() + _LONGEST

    def factor(call: int) -> float:
        if time.perf_counter() > ends:
            raise _TooSlow
        return float(function(call))

    return factor


def _length(factor: Factor) -> int:
    end = factor(_FAR)

    def differs_after(call: int, by: float) -> bool:
        return any(abs(factor(later) - end) > by for later in _beyond(call))

    if differs_after(_FAR // 2, 0.0):
        return 0
    exact = _first(lambda call: not differs_after(call, 0.0))
    highest = max(abs(factor(exact * part // 16)) for part in range(17))
    nearly = _first(lambda call: not differs_after(call, _NEARLY * highest))
    return exact if exact <= _TAIL * nearly else 0


def _half_cycle(factor: Factor) -> int:
    """The first way down to next to nothing, of a cosine that goes up again behind its end."""
    calls = _grid()
    top = next((i for i, (a, b) in enumerate(itertools.pairwise(calls)) if factor(b) < factor(a)), len(calls))
    turn = next((i for i in range(top, len(calls) - 1) if factor(calls[i + 1]) > factor(calls[i])), 0)
    if not turn:
        return 0
    low = calls[turn - 1]
    lowest = low + _first(lambda call: factor(low + call + 1) >= factor(low + call), calls[turn + 1] - low)
    return lowest if abs(factor(lowest)) <= _NEARLY * max(map(factor, calls[: turn + 1])) else 0


def _peak(factor: Factor) -> int:
    """The end of a rise from the first call on."""
    if factor(1) <= factor(0):
        return 0
    top = max(map(factor, _grid()))
    first = next(call for call in _grid() if factor(call) == top)
    rises = [call for call in _grid() if call < first]
    if any(factor(b) < factor(a) for a, b in itertools.pairwise(rises)):
        return 0
    low, high = rises[-1] if rises else 0, next((call for call in _grid() if call > first), first)
    return low + _first(lambda call: factor(low + call + 1) <= factor(low + call), high - low)


def _beyond(call: int) -> Iterator[int]:
    """Calls from this one on, close ones first."""
    yield from (call, call + 1, call + 2)
    yield from (call + (call * part) // 7 + part for part in range(1, 15))


def _grid() -> list[int]:
    calls, call = [0, 1], 1
    while call < _FAR:
        call = max(call + 1, call * 5 // 4)
        calls.append(call)
    return calls


def _first(holds: Callable[[int], bool], high: int = _FAR // 2) -> int:
    """The first number from which on something holds, where it does at the highest."""
    low = 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
