"""A loss that is exactly 0 from the first step on, with gradients of 0: nothing is learned."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import Run, TrainingCourse, ZeroLoss
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, repeated

_LEAST_STEPS = 10


class LossZeroFromStart(Rule):
    """A hinge that only ever sees its flat side, a factor of 0, or a sum over nothing is all of the loss."""

    code = "LOS084"
    name = "loss-zero-from-start"
    symptoms = (Symptom.LOSS_ZERO, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "every loss of the run and every gradient is exactly 0, the first ones too"
    needs = (ZeroLoss, TrainingCourse)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = next((course for course in run.all(TrainingCourse) if _is_zero(course)), None)
        others = [one for one in run.all(TrainingCourse) if one.losses and not _is_zero(one)]
        found = list(repeated(run.all(ZeroLoss), key=lambda seen: (seen.why, seen.where)))
        if course is not None and not others and len(found) == 1:
            yield self._diagnosis(found[0][0], course)

    def _diagnosis(self, seen: ZeroLoss, course: TrainingCourse) -> Diagnosis:
        where = seen.filled or seen.where
        return self.diagnose(
            headline=f"the loss is exactly 0 in all {course.losses} steps: {_short(seen)}",
            confidence="proven",
            step=seen.step,
            where=where,
            mark=seen.filled_text or seen.expression,
            label="this infinity decides all" if seen.filled else "0 for every sample",
            also=also((seen.where, "makes all of them 0"), where=where),
            culprit=Culprit(op=seen.op, phase="forward", tensor=seen.given),
            evidence=(_why(seen), "the gradient of every weight is 0, so that nothing is learned"),
            remedies=_remedies(seen),
        )


def _is_zero(course: TrainingCourse) -> bool:
    """All losses were 0, from the first one on."""
    values = (*course.head, *course.parts, course.highest)
    return course.losses >= _LEAST_STEPS and course.gradient == 0 and all(value == 0 for value in values)


def _short(seen: ZeroLoss) -> str:
    if seen.why == "hinge":
        return (
            f"`{seen.op}` gets nothing but -inf"
            if seen.infinite == seen.values
            else f"`{seen.op}` gets nothing above 0"
        )
    return "all of it is multiplied by 0" if seen.why == "zeros" else "it adds up nothing"


def _why(seen: ZeroLoss) -> str:
    if seen.why == "hinge" and seen.infinite == seen.values:
        return f"all {seen.values} values of `{seen.given}` are -inf: whatever the model says, the hinge is flat there"
    if seen.why == "hinge":
        reach = f"{seen.highest:.3g}" if seen.highest is not None and math.isfinite(seen.highest) else "-inf"
        return f"the {seen.values} values of `{seen.given}` reach {reach} at most, where the hinge is flat"
    if seen.why == "zeros":
        return f"`{seen.expression}` multiplies {seen.values} values by zeros"
    return f"`{seen.expression}` is given no value at all"


def _remedies(seen: ZeroLoss) -> tuple[Remedy, ...]:
    if seen.filled:
        sign = Remedy(
            title=f"turn the sign of the infinity in `{seen.filled_text}`: what is masked must never be chosen"
        )
        return sign, Remedy(title="or choose with the other of `min` and `max`")
    if seen.why == "hinge":
        return (Remedy(title=f"look at the signs in `{seen.given}`: some of it must lie above 0 at first"),)
    if seen.why == "zeros":
        return (Remedy(title="look at the mask or the weight: some of it must differ from 0"),)
    return (Remedy(title="look at the mask: it must leave something over"),)
