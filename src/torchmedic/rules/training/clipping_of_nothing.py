"""Clipping that has nothing to clip: an iterator that is used up, or gradients that are not there yet."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ClippingSeen, Run, SickStep, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._explosions import OF_EXPLOSIONS, grew_in_training

_LEAST_LOOKS = 3


class ClippingOfNothing(Rule):
    """The norm is exactly 0 at every call looked at, and the optimizer has gradients."""

    code = "TRN042"
    name = "clipping-of-nothing"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN)
    tell_apart = "`clip_grad_norm_` returns 0 although the training has gradients"
    needs = (ClippingSeen,)
    folds = ("exploding-weights",)

    def folds_in(self, run: Run) -> tuple[str, ...]:
        return OF_EXPLOSIONS if grew_in_training(run) else self.folds

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        for seen in run.all(ClippingSeen):
            if len(seen.norms) < _LEAST_LOOKS or any(seen.norms) or not (gradients := _gradients(run)):
                continue
            yield self.diagnose(
                headline=f"`{seen.function}` clips nothing: the norm that it finds is 0 at every call",
                confidence="proven",
                severity="error" if run.first(SickStep) is not None else self.severity,
                step=seen.step,
                where=seen.where,
                label="no gradient is there to be clipped",
                also=(Also(location=course.built, why="the optimizer that is given the parameters"),)
                if course is not None and course.built is not None
                else (),
                culprit=Culprit(op=seen.function, phase="optimizer"),
                evidence=(
                    f"so it was at all {len(seen.norms)} calls looked at, while {gradients}",
                    "a generator (`model.parameters()`, `filter(…)`) is empty after its first use, and before "
                    "`backward()` there are no gradients",
                ),
                remedies=(
                    Remedy(title="make a list of the parameters: `params = list(model.parameters())`"),
                    Remedy(title="and clip after `backward()`, before `step()`"),
                ),
            )


def _gradients(run: Run) -> str:
    """What shows that the training has gradients all the same; empty where nothing does."""
    course, sick = run.first(TrainingCourse), run.first(SickStep)
    if course is not None and course.gradient:
        return f"`{course.optimizer}` steps with gradients of norm {course.gradient:.2g}"
    if sick is not None and sick.bad_parameters:
        return f"gradients of {len(sick.bad_parameters)} parameters became NaN or infinite"
    return ""
