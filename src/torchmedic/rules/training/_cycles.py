"""Cycles of a learning rate, and the loss at their highs and lows."""

from __future__ import annotations

from statistics import fmean
from typing import NamedTuple

from torchmedic.facts import Run, StridesSeen, TrainingCourse
from torchmedic.rules.training._course import is_simple
from torchmedic.rules.training._strides import step_of

_LEAST_CYCLES = 3
_LEAST_SWING = 3.0  # of the rate
_THROWN = 1.3
_NOT_FALLEN = 0.9
_LEAST_PARTS = 40
_NEAR_NOTHING = 0.05


class Cycles(NamedTuple):
    """The lowest loss of each cycle of the rate, the loss at its highs, and where the run ended."""

    course: TrainingCourse
    looks: StridesSeen
    step: int
    lows: list[float]
    highs: list[float]
    highest: float
    end: float


def cycles_of(run: Run) -> Cycles | None:
    """Cycles that gain nothing, of a run that ends above what they had reached; None where there are none such."""
    course, seen = run.last(TrainingCourse), run.last(StridesSeen)
    if course is None or seen is None or not is_simple(course) or len(course.parts) < _LEAST_PARTS:
        return None
    rates = [_rate_at(seen, step_of(course, part)) for part in range(len(course.parts))]
    low, high = min(rates), max(rates)
    if high < _LEAST_SWING * low:
        return None
    bottom, middle = low + (high - low) / 4, (low + high) / 2
    stretches = _stretches([rate > middle for rate in rates])
    # The first of each kind belongs to the beginning of the run, whatever the rate.
    highs = [fmean(course.parts[a:b]) for a, b, is_high in stretches if is_high][1:]
    lows = [
        fmean([course.parts[i] for i in range(a, b) if rates[i] <= bottom])
        for a, b, is_high in stretches
        if not is_high and min(rates[a:b]) <= bottom
    ][1:]
    if min(len(lows), len(highs)) < _LEAST_CYCLES or not _swings(lows, highs):
        return None
    end, start = fmean(course.parts[-2:]), fmean(course.head[:5])
    if end < _THROWN * fmean(lows) or end < _NEAR_NOTHING * start:
        return None
    begins = next(a for a, _, is_high in stretches[1:] if is_high)
    return Cycles(course, seen, step_of(course, begins), lows, highs, high, end)


def _swings(lows: list[float], highs: list[float]) -> bool:
    """Every high lies above every low, well above on average, and the lows gain nothing from one to the next."""
    thrown = min(highs) > max(lows) and fmean(highs) >= _THROWN * fmean(lows)
    return thrown and lows[-1] >= _NOT_FALLEN * lows[0]


def _rate_at(seen: StridesSeen, step: int) -> float:
    """The rate at the look that lies nearest to a step."""
    return min(zip(seen.steps, seen.rates, strict=True), key=lambda look: abs(look[0] - step))[1]


def _stretches(above: list[bool]) -> list[tuple[int, int, bool]]:
    """Runs of equal answers: where each begins and ends."""
    found: list[tuple[int, int, bool]] = []
    for at, answer in enumerate(above):
        if found and found[-1][2] == answer:
            found[-1] = (found[-1][0], at + 1, answer)
        else:
            found.append((at, at + 1, answer))
    return found
