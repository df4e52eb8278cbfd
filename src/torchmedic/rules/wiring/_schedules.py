"""What the counts of a schedule tell of how it was meant."""

from __future__ import annotations

from torchmedic.facts import SchedulerSeen

_LEAST_UPDATES = 20
_OFTEN = 1.5
_LEAST_FIT, _MOST_FIT = 0.9, 1.12


def calls_for_each_update(seen: SchedulerSeen) -> float:
    """How often a schedule as long as there were updates was stepped for each of them; 0 where it was so or unlike."""
    # One that only rises is a warm-up, which ends where it likes.
    if seen.optimizer_steps < _LEAST_UPDATES or not seen.cuts or seen.peak >= seen.length > 0 or seen.nested:
        return 0.0
    told = seen.settings.get("total_iters", 0.0) if seen.type == "PolynomialLR" else 0.0
    length = seen.length or told
    fits = _LEAST_FIT * length <= seen.optimizer_steps <= _MOST_FIT * length
    goes_with_updates = seen.per_optimizer_step >= _LEAST_FIT * seen.optimizer_steps
    often = seen.steps / seen.optimizer_steps
    return often if fits and goes_with_updates and often >= _OFTEN and not seen.stepped_by else 0.0
