"""What the strides of a training say: since when its loss stands still, and what its updates do in that time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from torchmedic.facts import LoaderSeen, Location, Run, SchedulerSeen, StridesSeen, TrainingCourse
from torchmedic.rules.training._course import constant_answer, is_simple, rate_line

RELATED = 0.5  # the cosine between gradients from which on they have to do with each other, one way or the other
_PAST = 0.3
_SURELY_PAST = 0.15
_SERIES = ("steps", "rates", "agree", "lasting", "before", "after", "gradients", "strides", "falls")
_LEAST_LOSSES = 120
_LEAST_SHARE = 0.4
_LEAST_LOOKS = 10
_SMOOTHED = 5
_SAME_LEVEL = 0.1
_STILL = 0.05
_STEADY = 3.0
_LEAST_LEVEL = 0.1
_MOST_MOMENTUM = 0.99


class Standstill(NamedTuple):
    """A training whose loss has been at one level since a step, and the looks at its updates from then on."""

    course: TrainingCourse
    looks: StridesSeen
    early: StridesSeen
    step: int
    level: float
    fall: float

    @property
    def since(self) -> str:
        return f"since step {self.step}" if self.step else "since the first step"

    @property
    def updates(self) -> int:
        return self.course.steps - self.step

    @property
    def is_steady(self) -> bool:
        """Whether the rate stayed about the same: one that falls in that time is about to still the steps by itself."""
        return max(self.looks.rates) <= _STEADY * min(self.looks.rates)


def standstill(run: Run) -> Standstill | None:
    """The last two fifths of the run or more, at one level, far above nothing; None where the loss still falls."""
    course, seen = run.last(TrainingCourse), run.last(StridesSeen)
    if course is None or seen is None or not is_simple(course) or course.losses < _LEAST_LOSSES:
        return None
    level = statistics.fmean(_last_half(course.parts))
    since = _standing_since(course.parts, level)
    if since is None or level < _LEAST_LEVEL * _scale(run, course):
        return None
    step = step_of(course, since)
    looks = since_step(seen, step)
    if len(looks.steps) < _LEAST_LOOKS:
        return None
    early = until_step(seen, max(seen.steps[2], step // 2))
    return Standstill(course, looks, early, step, level, _fall(course.parts[since:]))


def _standing_since(parts: Sequence[float], level: float) -> int | None:
    """The first part from which on the loss lies about a level and does not fall, for long enough; None without one."""
    last = len(parts) - math.ceil(_LEAST_SHARE * len(parts))
    candidates = range(_level_since(parts, level), last + 1)
    return next((since for since in candidates if _fall(parts[since:]) <= _STILL * level), None)


def _fall(parts: Sequence[float]) -> float:
    """From the first half of some parts to the second."""
    middle = len(parts) // 2
    return statistics.fmean(parts[:middle]) - statistics.fmean(parts[middle:])


def _last_half(parts: Sequence[float]) -> Sequence[float]:
    return parts[len(parts) // 2 :]


def _level_since(parts: Sequence[float], level: float) -> int:
    """The first of the last parts that all lie about a level, as a mean of neighbours."""
    near = max(_SAME_LEVEL * level, 1.5 * statistics.stdev(_last_half(parts)))
    since = len(parts)
    for end in range(len(parts), _SMOOTHED - 1, -1):
        if abs(statistics.fmean(parts[end - _SMOOTHED : end]) - level) > near:
            break
        since = end - _SMOOTHED
    return since


def _scale(run: Run, course: TrainingCourse) -> float:
    """What the loss is of a model that knows nothing: at first, or with a constant answer where that costs less."""
    start = statistics.fmean(course.head[:5])
    level = constant_answer(run)
    return start if level is None or level <= 0 else min(start, level)


def step_of(course: TrainingCourse, part: int) -> int:
    """The update at which one of the parts begins."""
    return round(part * course.steps / len(course.parts))


def since_step(seen: StridesSeen, step: int) -> StridesSeen:
    return _picked(seen, [i for i, at in enumerate(seen.steps) if at > step])


def until_step(seen: StridesSeen, step: int) -> StridesSeen:
    return _picked(seen, [i for i, at in enumerate(seen.steps) if at <= step])


def halves(seen: StridesSeen) -> tuple[StridesSeen, StridesSeen]:
    middle = len(seen.steps) // 2
    return _picked(seen, range(middle)), _picked(seen, range(middle, len(seen.steps)))


def _picked(seen: StridesSeen, which: Sequence[int]) -> StridesSeen:
    series: dict[str, Any] = {name: tuple(getattr(seen, name)[i] for i in which) for name in _SERIES}
    return replace(seen, **series)


def overshoots(looks: StridesSeen) -> bool:
    """On average the slope along an update has turned upwards at its end, by far more than chance."""
    mean = statistics.fmean(looks.after)
    error = statistics.stdev(looks.after) / math.sqrt(len(looks.after))
    return mean >= _PAST and mean - 2 * error >= _SURELY_PAST


def typical_fall(seen: StridesSeen) -> float:
    """By how much an update lowers the loss of its own batch, without the few that would lower it most."""
    kept = sorted(seen.falls)[: math.ceil(0.9 * len(seen.falls))]
    return statistics.fmean(kept)


def made_by_steps(still: Standstill, looks: StridesSeen) -> float:
    """The part of the loss that the updates themselves keep up, as a share.

    About a lowest point an update of stride d on a slope g lifts the loss to d * g / 4 above it, be the slope noise or
    the other wall of the valley; momentum repeats every stride 1 / (1 - momentum) times.
    """
    kept = 1 - min(looks.momentum or 0.0, _MOST_MOMENTUM)
    return typical_fall(looks) / (4 * kept) / loss_of_update(still)


def loss_of_update(still: Standstill) -> float:
    """The loss that one update is made from: of several backward passes where it gathers them."""
    return still.level * still.course.losses / still.course.steps


def training_loader(run: Run) -> LoaderSeen | None:
    """The loader that most of the training came from."""
    trained = [seen for seen in run.all(LoaderSeen) if seen.trained and seen.built is not None]
    return max(trained, key=lambda seen: seen.trained, default=None)


def schedule_line(run: Run, course: TrainingCourse, looks: StridesSeen) -> Location | None:
    """The line to edit for another course of the rate: the scheduler, the line that sets it, else the rate."""
    mine = (one for one in run.all(SchedulerSeen) if str(one.optimizer_built) == str(course.built) and not one.nested)
    built = next((one.built for one in mine if one.built is not None), None)
    return built or looks.rate_written or rate_line(course)
