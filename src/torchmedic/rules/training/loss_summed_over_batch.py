"""A loss that is summed over the batch, under a rate that is meant for a mean: every step is as many times too long."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location, LossSummed, Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._reading import number, short
from torchmedic.rules.numerics.exploding_weights import ExplodingWeights
from torchmedic.rules.training._course import rate_line
from torchmedic.rules.training.learning_rate_too_high import LearningRateTooHigh
from torchmedic.rules.training.loss_exploded import LossExploded
from torchmedic.rules.wiring._telling import also

_OF_TOO_LONG_STEPS = (ExplodingWeights, LossExploded, LearningRateTooHigh)
# A rate above this explodes with a mean as well; below, of one times all the terms a mean would divide by, none does.
_USUAL_RATE = 0.1
_TOO_LONG = 1.0
_LEAST_ROWS = 8


class LossSummedOverBatch(Rule):
    """The weights or the loss exploded under a usual rate, and the loss is a sum over many rows."""

    code = "TRN074"
    name = "loss-summed-over-batch"
    symptoms = (Symptom.LOSS_NAN, Symptom.LOSS_NOISY, Symptom.WEIGHTS_NAN)
    tell_apart = "the rate is a usual one, but the loss is a sum over the rows of the batch and not their mean"
    needs = (LossSummed, TrainingCourse)
    folds = ("exploding-weights", "exploding-activations", "loss-exploded", "learning-rate-too-high", "dead-activation")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        summed, course = run.first(LossSummed), run.first(TrainingCourse)
        if summed is None or course is None or not _is_too_long(summed, course):
            return
        exploded = next((d for rule in _OF_TOO_LONG_STEPS for d in rule().check(run) if d.severity != "hint"), None)
        if exploded is None:
            return
        where = _line_to_edit(summed)
        rate = f"{course.optimizer} with lr {number(course.first_lr or 0.0)}"
        yield self.diagnose(
            headline=f"the loss is a sum over {summed.rows} rows, not their mean: steps under {rate} are too long",
            confidence="likely",
            step=exploded.step,
            where=where,
            mark=summed.expression if where == summed.where else "",
            label=f"{summed.terms} values are summed up"
            if where == summed.where
            else f"`{summed.layer}` is told to sum up",
            also=also((summed.where, "summed up here"), (rate_line(course), rate), where=where),
            culprit=Culprit(op="sum", phase="forward", tensor=summed.expression or None),
            evidence=(
                f"`{short(summed.expression, 60)}` is not divided by the number of rows on its way to the loss",
                f"the step of `{course.optimizer}` grows with the loss: by a mean over the rows it would be "
                f"{number(summed.rows * summed.factor)} times shorter",
            ),
            remedies=(
                Remedy(title="take the mean over the batch, `.sum(1).mean()` or `reduction='mean'`"),
                Remedy(title=f"or divide the learning rate by the size of the batch, {summed.rows}"),
            ),
        )


def _is_too_long(summed: LossSummed, course: TrainingCourse) -> bool:
    """Optimizers that divide by the size of the gradient, as Adam does, take the same step whatever the loss is."""
    rate = course.first_lr or 0.0
    longer = summed.factor * summed.rows >= _LEAST_ROWS and rate * summed.factor * summed.terms >= _TOO_LONG
    return "SGD" in course.optimizer and 0 < rate <= _USUAL_RATE and longer


def _line_to_edit(summed: LossSummed) -> Location:
    return summed.built if summed.built is not None and "sum" in summed.built.source else summed.where
