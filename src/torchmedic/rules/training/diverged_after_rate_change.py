"""The schedule raises the learning rate, and the training never recovers."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location, RateRaised, Run, SchedulerSeen, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import is_simple
from torchmedic.rules.wiring._telling import also

_WORSE = 1.5
_LEAST_STEPS_AFTER = 60


class DivergedAfterRateChange(Rule):
    """The loss is half as high again right after the rate went up, and still is at the end."""

    code = "TRN030"
    name = "diverged-after-rate-change"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "the loss was falling until the very step at which the learning rate was raised"
    needs = (RateRaised, TrainingCourse)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        simple = {str(course.built) for course in run.all(TrainingCourse) if is_simple(course)}
        for seen in run.all(RateRaised):
            worse = seen.after >= _WORSE * seen.before and seen.end >= _WORSE * seen.before
            if not worse or seen.before <= 0 or seen.steps_after < _LEAST_STEPS_AFTER or str(seen.built) not in simple:
                continue
            where, stepped = _schedule_of(run, seen.built)
            if where is None:  # set by hand, maybe for another stage with other data
                continue
            times = f"{seen.rate_after / seen.rate_before:.3g}"
            yield self.diagnose(
                headline=f"the loss went from {seen.before:.3g} to {seen.after:.3g} when the rate rose {times}-fold",
                confidence="likely",
                step=seen.step,
                where=where,
                label=f"sets lr={seen.rate_after:.3g} at step {seen.step}, which was {seen.rate_before:.3g}",
                also=also((stepped, "the rate is changed here"), (seen.built, "the optimizer"), where=where),
                culprit=Culprit(phase="optimizer", op=seen.optimizer),
                evidence=(
                    f"over the 20 steps before the change the loss was {seen.before:.3g}, over the 20 after it "
                    f"{seen.after:.3g}",
                    f"{seen.steps_after} steps later it is {seen.end:.3g}: it has not come back",
                ),
                remedies=(
                    Remedy(title=f"keep the rate below {seen.rate_after:.3g} at that step"),
                    Remedy(title="or raise it over many steps, as a warm-up does"),
                ),
            )


def _schedule_of(run: Run, built: Location | None) -> tuple[Location | None, Location | None]:
    """Where the scheduler of an optimizer was built, and where it is stepped."""
    for seen in run.all(SchedulerSeen):
        if str(seen.optimizer_built) == str(built) and not seen.nested:
            return seen.built, seen.stepped
    return None, None
