"""Weight decay that pulls the weights to 0 faster than the gradients can hold them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import constant_answer, ending, is_simple

_LEAST_DECAY = 0.02
_MOST_LEFT = 0.3
_NOTHING_LEARNED = 0.97
_LEAST_STEPS = 50


class WeightDecayTooStrong(Rule):
    """The weights have shrunk to a fraction, and the model answers the same to everything."""

    code = "TRN031"
    name = "weight-decay-too-strong"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the weights shrink towards 0, and the loss ends at that of a constant answer"
    needs = (TrainingCourse,)
    folds = ("learning-rate-too-low", "majority-class-answered", "vanishing-gradients", "dead-activation")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        level = constant_answer(run)
        for course in run.all(TrainingCourse):
            end = ending(course)
            if level is None or end is None or course.shrunk is None or not is_simple(course):
                continue
            strong = (course.decay or 0.0) >= _LEAST_DECAY and course.shrunk <= _MOST_LEFT
            if not strong or end < _NOTHING_LEARNED * level or level <= 0.05 or course.steps < _LEAST_STEPS:
                continue
            yield self.diagnose(
                headline=f"weight_decay={course.decay:g} shrank the weights to {_left(course.shrunk)} of their size",
                confidence="likely",
                step=course.step,
                where=course.built,
                label=f"`{course.optimizer}` with weight_decay={course.decay:g}",
                culprit=Culprit(phase="optimizer", op=course.optimizer),
                evidence=(
                    f"the loss is {end:.3g} at the end; always the same answer costs {level:.3g}",
                    f"after {course.steps} steps little is left of the weights, so all inputs get the same answer",
                ),
                remedies=(
                    Remedy(title="try weight_decay=1e-4, or 0 to see whether the model learns at all"),
                    Remedy(title="or use `AdamW`, whose decay does not pass through the adaptive rate")
                    if course.optimizer == "Adam"
                    else Remedy(title="or leave biases and norms out of the decay"),
                ),
            )


def _left(share: float) -> str:
    """
    >>> _left(0.0015), _left(0.21)
    ('less than 1 %', '21 %')
    """
    return "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"
