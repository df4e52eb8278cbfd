"""Updates so small that the weights stay where they began."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from torchmedic.facts import Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import constant_answer, ending, is_simple, rate_line
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 80
_MOST_MOVED = 2e-3
_MOST_MOVED_IN_VAIN = 2e-2  # where the loss is still that of an answer which never changes
_MOST_RATIO = 5e-5
_FAR_BELOW = 0.02


class LearningRateTooLow(Rule):
    """After many steps the weights have moved by a thousandth, and the loss stands still."""

    code = "TRN002"
    name = "learning-rate-too-low"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "gradients are there, but each update is a tiny part of the weights and the loss does not fall"
    needs = (TrainingCourse,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for course in run.all(TrainingCourse):
            end = ending(course)
            if not is_simple(course) or course.steps < _LEAST_STEPS or end is None or not course.highest_lr:
                continue
            start = sum(course.head[:10]) / 10
            if not course.gradient or not _stands_still(run, course, start, end):
                continue
            per_step = sum(course.ratios) / len(course.ratios)
            where = rate_line(course)
            yield self.diagnose(
                headline=f"learning rate lr={course.highest_lr:g} is too low: {course.moved_in or course.steps} steps "
                f"moved weights by {course.moved:.1e}",
                confidence="likely",
                step=course.step,
                where=where,
                label=f"`{course.optimizer}` with lr={course.highest_lr:g}",
                also=also(
                    (course.built, "the optimizer that is given it"),
                    (course.rate_made, "where the rate comes from"),
                    where=where,
                ),
                culprit=Culprit(phase="optimizer", op=course.optimizer),
                evidence=(
                    f"the loss was {start:.4g} in the first ten steps and is {end:.4g} at the end",
                    f"gradients are there (norm {course.gradient:.2g}); an update is {per_step:.0e} of the weights, "
                    f"where 1e-3 is usual",
                    *_beside_default(course),
                ),
                remedies=(Remedy(title=f"try lr={course.highest_lr * 1e-3 / per_step:.0e} for `{course.optimizer}`"),),
            )


def _stands_still(run: Run, course: TrainingCourse, start: float, end: float) -> bool:
    """Hardly moved; or moved a little over many steps, and still no better than an answer that never changes."""
    if not course.moved or max(course.ratios, default=1.0) >= _MOST_RATIO:
        return False
    level = constant_answer(run) if course.moved < _MOST_MOVED_IN_VAIN else None
    if level is not None and end >= 0.97 * level:
        return end >= min(0.97 * start, start - _doubt(course))
    return course.moved < _MOST_MOVED and end >= 0.97 * start


def _doubt(course: TrainingCourse) -> float:
    """What the mean of ten of the first losses may be off by, from batch to batch: two standard errors."""
    return 2 * statistics.stdev(course.head) / math.sqrt(10)


def _beside_default(course: TrainingCourse) -> tuple[str, ...]:
    usual, rate = course.default_lr, course.highest_lr
    if not usual or not rate or rate > _FAR_BELOW * usual:
        return ()
    return (f"`{course.optimizer}` itself begins with lr={usual:g} when it is told none",)
