"""The loss swings about a level: updates go past the lowest point and come back, or a schedule throws it back."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from torchmedic.facts import Run, StridesSeen, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import rate_line
from torchmedic.rules.training._cycles import Cycles, cycles_of
from torchmedic.rules.training._strides import (
    RELATED,
    Standstill,
    halves,
    made_by_steps,
    overshoots,
    schedule_line,
    standstill,
    typical_fall,
)
from torchmedic.rules.wiring._telling import also

_LEAST_SHARE = 1 / 5  # of the loss that the steps themselves keep up: less than there is, where they go far past
_BACK = -0.3
_LEAST_BACK = 0.15
_UPHILL = 0.1
_LEAST_UPHILL = 0.15
_LEAST_ELEMENTS = 16
_MUCH_MOMENTUM = 0.95


class LossThatSwings(Rule):
    """Gradients turn round from one step to the next, or within some steps, and the loss stays where it is."""

    code = "TRN071"
    name = "loss-that-swings"
    severity = "hint"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_FLAT)
    tell_apart = (
        "updates overshoot: at its end the slope along an update has the other sign, and the loss does not fall"
    )
    needs = (TrainingCourse, StridesSeen)
    gives_way = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        cycles = cycles_of(run)
        if cycles is not None:
            yield self._thrown_back(run, cycles)
            return
        still = standstill(run)
        if still is None or not still.is_steady or not (overshoots(still.looks) or _turns_back(still.looks)):
            return
        shares = [made_by_steps(still, half) for half in halves(still.looks)]
        if min(shares) >= _LEAST_SHARE:
            yield self._swinging(still)

    def _swinging(self, still: Standstill) -> Diagnosis:
        course, looks = still.course, still.looks
        where, rate = rate_line(course), looks.rates[-1]
        by_momentum = (looks.momentum or 0.0) >= _MUCH_MOMENTUM
        return self.diagnose(
            headline=f"the loss swings about {still.level:.3g} {still.since}: updates go past the bottom",
            confidence="likely",
            step=still.step,
            where=where,
            label=f"momentum {looks.momentum:g} with lr={rate:g}" if by_momentum else f"lr={rate:g}",
            also=also((course.built, "the optimizer"), where=where),
            culprit=Culprit(phase="optimizer", op=course.optimizer),
            evidence=_evidence(still),
            remedies=(
                *([Remedy(title="lower the momentum, to 0.9 for example")] if by_momentum else []),
                Remedy(title=f"try lr={rate / 10:.0e}, or let the rate fall towards the end of the run"),
            ),
        )

    def _thrown_back(self, run: Run, cycles: Cycles) -> Diagnosis:
        course = cycles.course
        where = schedule_line(run, course, cycles.looks)
        return self.diagnose(
            headline=f"the loss swings with the rate: {cycles.lows[-1]:.3g} where that is low, {cycles.end:.3g} "
            f"at the end",
            confidence="likely",
            step=cycles.step,
            where=where,
            label=f"the rate goes up to {cycles.highest:.2g} again and again",
            also=also((course.built, "the optimizer"), where=where),
            culprit=Culprit(phase="optimizer", op=course.optimizer),
            evidence=(
                f"{len(cycles.lows)} cycles: where the rate was lowest the loss was "
                f"{', '.join(f'{low:.3g}' for low in cycles.lows[-6:])}: it gains nothing from one to the next",
                f"where it was highest the loss was {', '.join(f'{high:.3g}' for high in cycles.highs[-6:])}",
                f"the run ends at a rate of {cycles.looks.rates[-1]:.2g}, with a loss of {cycles.end:.3g}",
            ),
            remedies=(
                Remedy(title="end the run where the rate is lowest"),
                Remedy(title="or let the rate fall once, without restarts, or lower its height from cycle to cycle"),
            ),
        )


def _turns_back(looks: StridesSeen) -> bool:
    """Neighbouring gradients have to do with each other, as noise has not; often they turn round, and updates climb."""
    related = statistics.median(map(abs, looks.agree)) >= RELATED and looks.elements >= _LEAST_ELEMENTS
    uphill = sum(before >= _UPHILL for before in looks.before) / len(looks.steps)
    return related and uphill >= _LEAST_UPHILL and _share_back(looks) >= _LEAST_BACK


def _share_back(looks: StridesSeen) -> float:
    pairs = zip(looks.agree, looks.lasting, strict=True)
    return sum(min(pair) <= _BACK for pair in pairs) / len(looks.steps)


def _evidence(still: Standstill) -> tuple[str, ...]:
    course, looks = still.course, still.looks
    since = len(course.parts) * still.step // course.steps
    fall = typical_fall(looks)
    low, high = statistics.median(course.lows[since:]), statistics.median(course.highs[since:])
    return (
        f"within a stretch of {course.steps // len(course.parts)} updates it goes from {low:.3g} to {high:.3g}, and on "
        f"average it has not fallen for {still.updates} updates",
        f"in {100 * _share_back(looks):.0f} % of {len(looks.steps)} looks the gradient had turned round at the next "
        f"step, or since the look before; an update ends with the slope at a cosine of "
        f"{statistics.fmean(looks.after):+.2f} along it (above 0: it rises)",
        f"by its own slope an update should lower the loss by {fall:.2g}; {still.updates} of them lowered it by "
        f"{max(0.0, still.fall):.2g}",
    )
