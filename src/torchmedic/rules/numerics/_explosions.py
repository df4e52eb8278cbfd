"""When values that grow inside an untrained network are a sickness."""

from __future__ import annotations

import math

from torchmedic.facts import Amplification, HandDistance, LossCall, Run, SickStep, SummedUp, SumTrial, TrainingCourse
from torchmedic.rules.numerics._case import Case

_LEAST_GAIN = 1e3
_STILL_ABOVE = 10.0
# Weights that each enlarge values so often need not enlarge them a thousandfold together.
_LARGE_EACH = 3.0
_LEAST_TOGETHER = 30.0
_CALM = 1e5
_LATE = 9  # of the steps that are looked at, the first that is not one of the very first
# What is said of values that overflowed because updates had made them large: consequences of whatever let them.
OF_EXPLOSIONS = ("exploding-weights", "exploding-activations", "non-finite-origin")


def exploding_line(run: Run) -> Amplification | None:
    """The line of the first step that enlarges values beyond reason, in a run that never got over it."""
    seen = run.last(Amplification)
    if seen is None or math.log10(max(seen.gain, 1.0)) < 0.5 * math.log10(max(seen.total, 10.0)):
        return None
    if seen.gain < _LEAST_GAIN and not _began_far_above(run, seen):
        return None
    return seen if run.first(SickStep) is not None or _never_recovered(run) else None


def drawn_gain(seen: Amplification) -> float:
    """By how much a weight of this spread enlarges values of its own; what grows otherwise grows by something else."""
    # A weight of the user's own may have its inputs in either dimension; one of torch's has them behind the first.
    fan = min(seen.shape) if len(seen.shape) == 2 and not seen.how else math.prod(seen.shape[1:])
    return float(seen.spread * fan**0.5)


def _began_far_above(run: Run, seen: Amplification) -> bool:
    """Weights of which each is drawn far too large, and a first loss that no answers of a usual size could have."""
    baselines = [call.baseline for call in run.all(LossCall) if call.baseline is not None]
    baselines += [d.baseline for d in run.all(HandDistance)]
    each = seen.calls > 1 and seen.gain >= _LEAST_TOGETHER and drawn_gain(seen) >= _LARGE_EACH
    return each and bool(baselines) and (seen.loss or 0.0) >= _LEAST_TOGETHER * max(*baselines, 1e-3)


def sum_that_explodes(run: Run) -> tuple[SummedUp, SumTrial] | None:
    """A line whose sums make the first loss enormous, as a run with means has shown, where it stayed so."""
    if run.first(SickStep) is None and not _never_recovered(run):
        return None
    for trial in run.all(SumTrial):
        summed = next((one for one in run.all(SummedUp) if str(one.where) == trial.line), None)
        if summed is None or not trial.replaced or not _is_calm(run, trial):
            continue
        if 0 <= trial.loss <= summed.loss / _LEAST_GAIN:
            return summed, trial
    return None


def _is_calm(run: Run, trial: SumTrial) -> bool:
    """Whether the loss of a trial is not far from that of a constant answer."""
    baselines = [d.baseline for d in run.all(HandDistance)]
    baselines += [call.baseline for call in run.all(LossCall) if call.baseline is not None]
    return not baselines or trial.loss <= _LEAST_GAIN * max(*baselines, 1e-3)


def _never_recovered(run: Run) -> bool:
    """Whether the last losses are still well above that of a constant answer."""
    last = {str(seen.where): seen for seen in run.all(HandDistance)}
    if any((d.step or 0) >= _LATE and d.distance > _STILL_ABOVE * max(d.baseline, 1e-3) for d in last.values()):
        return True
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
