"""The loss around the steps at which a learning rate was raised."""

from __future__ import annotations

from collections import deque
from dataclasses import field

from torchmedic.facts import Location, RateRaised
from torchmedic.late import late_dataclass

_RAISED = 2.0
_WINDOW = 20
_MOST_RAISES = 4


@late_dataclass()
class _Raise:
    step: int
    rates: tuple[float, float]
    before: float
    after: list[float] = field(default_factory=list)
    steps_after: int = 0


class RateChanges:
    """Keeps the last losses, and those on either side of a raise."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_WINDOW)
        self._raises: list[_Raise] = []
        self._rate: float | None = None

    def note_rate(self, rate: float, step: int) -> None:
        """A warm-up from 0 raises nothing that was there before."""
        last, self._rate = self._rate, rate
        full = len(self._recent) == _WINDOW and len(self._raises) < _MOST_RAISES
        if last and rate >= _RAISED * last and full:
            self._raises.append(_Raise(step, (last, rate), _mean(self._recent)))

    def note_loss(self, value: float) -> None:
        self._recent.append(value)
        for seen in self._raises:
            seen.steps_after += 1
            if len(seen.after) < _WINDOW:
                seen.after.append(value)

    def facts(self, optimizer: str, built: Location | None) -> list[RateRaised]:
        return [
            RateRaised(
                step=seen.step,
                optimizer=optimizer,
                built=built,
                rate_before=seen.rates[0],
                rate_after=seen.rates[1],
                before=seen.before,
                after=_mean(seen.after),
                end=_mean(self._recent),
                steps_after=seen.steps_after,
            )
            for seen in self._raises
            if len(seen.after) == _WINDOW
        ]


def _mean(values: deque[float] | list[float]) -> float:
    return sum(values) / len(values)
