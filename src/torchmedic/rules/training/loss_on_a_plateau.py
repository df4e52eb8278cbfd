"""The loss stands still on a slope: all batches point the same way down, and the steps are too short to get there."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from torchmedic.facts import Run, StridesSeen, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import rate_line
from torchmedic.rules.training._strides import Standstill, schedule_line, standstill
from torchmedic.rules.wiring._telling import also

_STILL = 0.02
_FADED = 30.0
_LEAST_AGREE = {True: 0.3, False: 0.6}  # with a rate that has faded away, and with one that is as it was
_MOST_STRIDE = 1e-4
_LEAST_SLOPE = 0.3
_LEAST_UPDATES = 100


class LossOnAPlateau(Rule):
    """Neighbouring and distant steps have one gradient, about as steep as at first, and the weights hardly move."""

    code = "TRN070"
    name = "loss-on-a-plateau"
    severity = "hint"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the loss stands still far above 0 while the gradients of all batches go on pointing the same way"
    needs = (TrainingCourse, StridesSeen)
    gives_way = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        still = standstill(run)
        if still is None or still.fall > _STILL * still.level or still.updates < _LEAST_UPDATES:
            return
        looks, course = still.looks, still.course
        peak, rate = course.highest_lr or 0.0, statistics.median(looks.rates)
        faded = rate * _FADED <= peak
        stride, steepness = statistics.median(looks.strides), _steepness(still)
        if stride > _MOST_STRIDE or steepness < _LEAST_SLOPE or not _points_one_way(looks, _LEAST_AGREE[faded]):
            return
        where = schedule_line(run, course, looks) if faded else rate_line(course)
        told = f"a rate of {rate:.2g} in most of that time, of {peak:.2g} at its highest" if faded else f"lr={rate:g}"
        yield self.diagnose(
            headline=f"the loss stands at {still.level:.3g} {still.since}, on a slope that leads on down",
            confidence="likely" if faded else "possible",
            step=still.step,
            where=where,
            label=told,
            also=also((course.built, "the optimizer"), where=where),
            culprit=Culprit(phase="optimizer", op=course.optimizer),
            evidence=_evidence(still, stride, steepness),
            remedies=_remedies(course, rate, faded=faded),
        )


def _common_slope(looks: StridesSeen) -> float:
    """The size of what the gradients of different batches have in common."""
    sizes = [math.sqrt(max(0.0, agree)) * size for agree, size in zip(looks.agree, looks.gradients, strict=True)]
    return statistics.median(sizes)


def _steepness(still: Standstill) -> float:
    """The common slope, relative to that before the standstill."""
    before = _common_slope(still.early)
    return _common_slope(still.looks) / before if before else 0.0


def _points_one_way(looks: StridesSeen, least: float) -> bool:
    """At steps next to each other and at steps far apart: neighbours alone may just hold similar samples."""
    together = (looks.agree, looks.lasting)
    return all(statistics.median(v) >= least and statistics.quantiles(v, n=4)[0] >= least / 3 for v in together)


def _evidence(still: Standstill, stride: float, steepness: float) -> tuple[str, ...]:
    looks, start = still.looks, statistics.fmean(still.course.head[:5])
    return (
        f"the loss was {start:.3g} at first; in the last {still.updates} updates it changed by "
        f"{100 * abs(still.fall) / still.level:.1f} %",
        f"gradients of neighbouring steps have a cosine of {statistics.median(looks.agree):.2f}, of distant ones "
        f"{statistics.median(looks.lasting):.2f}, in {len(looks.steps)} looks: at a lowest point it would be about 0",
        f"what they have in common is {100 * steepness:.0f} % of what it was before: the slope is still there",
        f"an update changes the weights by {stride:.0e} of their size, where 1e-3 is usual",
    )


def _remedies(course: TrainingCourse, rate: float, *, faded: bool) -> tuple[Remedy, ...]:
    if not faded:
        return (Remedy(title=f"try lr={10 * rate:.0e} for `{course.optimizer}`"),)
    return (
        Remedy(title="let the rate fall more slowly, over the whole run"),
        Remedy(title=f"or give it a floor, such as {(course.highest_lr or 0.0) / 10:.0e}"),
    )
