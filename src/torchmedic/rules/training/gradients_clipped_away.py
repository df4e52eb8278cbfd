"""Gradients are clipped to so little that nothing is learned."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import ClippingSeen, Run, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import ending

_LEAST_LOOKS = 3
_LEAST_CUT = 100.0
_MOST_MOVED = 5e-3


class GradientsClippedAway(Rule):
    """Every gradient looked at was cut more than a hundredfold, the weights stay, and the loss does not fall."""

    code = "TRN040"
    name = "gradients-clipped-away"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "the limit of the clipping is a small part of the norm that the gradients have"
    needs = (ClippingSeen, TrainingCourse)
    folds = ("learning-rate-too-low",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        end = ending(course) if course is not None else None
        if course is None or end is None or not course.head or course.moved is None or course.moved > _MOST_MOVED:
            return
        start = sum(course.head[:10]) / len(course.head[:10])
        for seen in run.all(ClippingSeen):
            finite = [norm for norm in seen.norms if math.isfinite(norm)]
            if (
                len(finite) < _LEAST_LOOKS
                or seen.limit <= 0
                or min(finite) < _LEAST_CUT * seen.limit
                or end < 0.95 * start
            ):
                continue
            low, high = min(finite), max(finite)
            yield self.diagnose(
                headline=f"`{seen.function}` cuts gradients of norm {low:.2g} to {high:.2g} down to {seen.limit:.0e}",
                confidence="proven",
                step=course.step,
                where=seen.where,
                label=f"keeps 1 part in {low / seen.limit:.0f} or less",
                also=(Also(location=course.built, why=f"`{course.optimizer}` with lr={course.highest_lr:g}"),)
                if course.built is not None and course.highest_lr is not None
                else (),
                culprit=Culprit(op=seen.function, phase="optimizer"),
                evidence=(
                    f"so it was at all {len(finite)} calls looked at; {course.steps} steps moved the weights by "
                    f"{course.moved:.1e}",
                    f"the loss was {start:.4g} in the first steps and is {end:.4g} at the end",
                ),
                remedies=(Remedy(title=f"raise the limit of `{seen.function}` to about the usual norm, {high:.1g}"),),
            )
