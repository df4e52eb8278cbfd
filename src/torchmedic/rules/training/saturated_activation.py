"""A sigmoid or tanh inside the model pressed to the ends of its range."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ActivationSeen, Run, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import ending, is_simple, learned_nothing

_LEAST_SHARE = 0.95


class SaturatedActivation(Rule):
    """Nearly all outputs of an inner sigmoid or tanh lie at an end of its range, and nothing is learned."""

    code = "TRN004"
    name = "saturated-activation"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "an inner sigmoid or tanh is within 1 % of its ends for nearly all inputs"
    needs = (ActivationSeen, TrainingCourse)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        if course is None or not is_simple(course) or not learned_nothing(run, course, first=10):
            return
        for seen in run.all(ActivationSeen):
            pressed = len(seen.shares) >= 3 and min(seen.shares) >= _LEAST_SHARE
            if seen.op not in ("sigmoid", "tanh") or seen.is_last or not pressed:
                continue
            where = seen.fed_built or seen.where
            yield self.diagnose(
                headline=f"`{seen.op}` after `{seen.fed_by}` is saturated for {min(seen.shares):.0%} of its outputs",
                confidence="likely",
                step=seen.step,
                where=where,
                label=f"its output is too large for `{seen.op}`",
                also=(Also(location=seen.where, why=f"`{seen.op}` here"),)
                if seen.where and seen.where != where
                else (),
                culprit=Culprit(op=seen.op, phase="forward", module=seen.fed_by),
                evidence=(
                    f"so it was at steps {', '.join(map(str, seen.steps))}; the slope there is nearly 0, so that "
                    f"hardly any gradient passes",
                    f"the loss began at {course.head[0]:.4g} and is {ending(course):.4g} at the end",
                ),
                remedies=(
                    Remedy(title="scale the inputs to about zero mean and unit spread"),
                    Remedy(
                        title=f"or start `{seen.fed_by}` with smaller weights, or put a norm layer before `{seen.op}`"
                    ),
                ),
            )
            return
