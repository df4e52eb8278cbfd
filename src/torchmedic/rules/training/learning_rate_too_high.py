"""The first updates throw the weights away."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import constant_answer, died, ending, is_simple, learned_nothing, rate_line
from torchmedic.rules.wiring._telling import also

_LEAST_RATIO = 0.2
_LEAST_JUMP = 1.5
# An update of half the weights, and more that follow, leaves nothing of how they were drawn: no jump need be seen.
_HUGE_RATIO = 0.5
_HUGE_ON_AVERAGE = 0.15
# What still counts as restless when the first steps are long over.
_LATE_RATIO = 0.01
_LATE_FROM = 39
_FAR_AWAY = 3.0
# Of the weights, by the first updates on average: enough where the network died and its weights are far away.
_DEADLY_ON_AVERAGE = 0.02


class LearningRateTooHigh(Rule):
    """Updates as large as the weights themselves, a loss that jumped, and nothing learned at the end."""

    code = "TRN001"
    name = "learning-rate-too-high"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "one update changes the weights by a fifth or more of their size, and the loss jumps at once"
    needs = (TrainingCourse,)
    folds = ("dead-activation", "saturated-activation")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for course in run.all(TrainingCourse):
            early = [r for r, s in zip(course.ratios, course.ratio_steps, strict=True) if s < 5]
            end = ending(course)
            if not is_simple(course) or not early or end is None or course.steps < 20:
                continue
            peak = max(course.head)
            ratio = max(early)
            huge = ratio >= _HUGE_RATIO and sum(early) / len(early) >= _HUGE_ON_AVERAGE
            jumped = peak >= _LEAST_JUMP * course.head[0]
            is_dead = died(run)
            failed = is_dead or learned_nothing(run, course)
            suspicious = (failed and (jumped or huge)) or (huge and _is_restless(course))
            killed = is_dead and (course.moved or 0.0) >= _FAR_AWAY and sum(early) / len(early) >= _DEADLY_ON_AVERAGE
            if not killed and (ratio < _LEAST_RATIO or not suspicious):
                continue
            level = constant_answer(run)
            where = rate_line(course)
            yield self.diagnose(
                headline=f"learning rate lr={course.first_lr:g} is too high: the network died under its updates"
                if killed
                else f"learning rate lr={course.first_lr:g} is too high: one update {_size(ratio)} the weights",
                # A model that learns all the same may be meant to be trained so.
                severity=self.severity if failed else "hint",
                confidence="likely" if failed else "possible",
                step=course.step,
                where=where,
                label=f"`{course.optimizer}` with lr={course.first_lr:g}",
                also=also(
                    (course.built, "the optimizer that is given it"),
                    (course.rate_made, "where the rate comes from"),
                    where=where,
                ),
                culprit=Culprit(phase="optimizer", op=course.optimizer),
                evidence=(
                    f"the loss went from {course.head[0]:.3g} to {peak:.3g} within {len(course.head)} steps and is "
                    f"{end:.3g} at the end" + (f"; always the same answer costs {level:.3g}" if level else ""),
                    *(("at the end the answers are the same for every input, and they were not at first",) * is_dead),
                    f"a usual update changes weights by about 0.1 %; one of the first here {_size(ratio)} them",
                ),
                remedies=(
                    Remedy(title=f"try lr={_gentler(course, ratio):.0e} for `{course.optimizer}`"),
                    Remedy(title="or warm the rate up over the first steps"),
                ),
            )


def _is_restless(course: TrainingCourse) -> bool:
    """Long after the start each update is still ten times the usual, and the weights are far from where they began."""
    late = [r for r, s in zip(course.ratios, course.ratio_steps, strict=True) if s >= _LATE_FROM]
    return len(late) >= 3 and min(late) >= _LATE_RATIO and (course.moved or 0.0) >= _FAR_AWAY


def _gentler(course: TrainingCourse, ratio: float) -> float:
    """The rate at which the first updates would be about half a percent of the weights."""
    return (course.first_lr or 1e-3) * 0.005 / ratio


def _size(ratio: float) -> str:
    """`is 30 % of`, `is 7 times as large as`."""
    return f"is {ratio:.0f} times as large as" if ratio >= 1.5 else f"is {100 * ratio:.0f} % of"
