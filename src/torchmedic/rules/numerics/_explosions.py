"""When values that grow inside an untrained network are a sickness."""

from __future__ import annotations

import math

from torchmedic.facts import Amplification, LossCall, Run, SickStep, TrainingCourse
from torchmedic.rules.numerics._case import Case

_LEAST_GAIN = 1e3
_STILL_ABOVE = 10.0
_CALM = 1e5
# What is said of values that overflowed because updates had made them large: consequences of whatever let them.
OF_EXPLOSIONS = ("exploding-weights", "exploding-activations", "non-finite-origin")


def exploding_line(run: Run) -> Amplification | None:
    """The line of the first step that enlarges values beyond reason, in a run that never got over it."""
    seen = run.last(Amplification)
    if seen is None or seen.gain < _LEAST_GAIN or math.log10(seen.gain) < 0.5 * math.log10(max(seen.total, 10.0)):
        return None
    return seen if run.first(SickStep) is not None or _never_recovered(run) else None


def _never_recovered(run: Run) -> bool:
    """Whether the last losses are still well above that of a constant answer."""
    baselines = [call.baseline for call in run.all(LossCall) if call.baseline is not None]
    courses = list(run.all(TrainingCourse))
    if not baselines or len(courses) != 1 or not courses[0].parts:
        return False
    return courses[0].parts[-1] > _STILL_ABOVE * max(*baselines, 1e-3)


def grew_in_training(run: Run) -> bool:
    """Whether the sick step overflowed with enormous values of its own, after steps in which they were not."""
    case = Case.of(run)
    if case is None or case.origin is None or case.source is not None or not case.is_overflow_of_large_values:
        return False
    before = [abs(loss) for loss in case.origin.losses if math.isfinite(loss)]
    return len(before) > 1 and min(before) < _CALM
