"""Learning rates that begin anew: a schedule by hand that counts the steps of an epoch, and not those of the run."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from torchmedic.facts import RateBegunAnew
from torchmedic.journal import Page, Update
from torchmedic.late import late_dataclass
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.epoch_counters import counted_anew
from torchmedic.probes.exam.schedules import ScheduleExam
from torchmedic.record import Probe, Recorder

_LEAST_TOOTH = 4
_COMPARED = 16
_LEAST_TEETH = 2
# A schedule of cycles comes near its other end before it turns; one that is cut short does not.
_DEEPEST_FALL = 0.6
_RESTART = 0.5
# Schedules whose purpose is to go up and down again.
_CYCLIC = ("CyclicLR", "CosineAnnealingWarmRestarts")


@late_dataclass()
class _Teeth:
    """The rates since the last jump, and how often the same stretch was cut short and begun anew."""

    last: float | None = None
    direction: int = 0
    is_pure: bool = True  # each step went on in one direction
    length: int = 0
    begin: list[float] = field(default_factory=list)
    pattern: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    reached: float = 0.0
    highest: float = 0.0
    first_restart: int = 0

    def add(self, rate: float, step: int) -> None:
        self.highest = max(self.highest, rate)
        last, self.last = self.last, rate
        if last is not None:
            way = (rate > last) - (rate < last)
            if self._is_jump_back(last, rate, way):
                self._close(last, step)
            elif self.length == 1:
                self.direction = way
                self.is_pure = way != 0
            else:
                self.is_pure &= way == self.direction
        self.length += 1
        if len(self.begin) < _COMPARED:
            self.begin.append(rate)

    def _is_jump_back(self, last: float, rate: float, way: int) -> bool:
        if self.length < _LEAST_TOOTH or not self.direction or way != -self.direction:
            return False
        if self.direction > 0:
            return rate <= _RESTART * last
        return last >= _DEEPEST_FALL * self.begin[0] and rate == self.begin[0]

    def _close(self, last: float, step: int) -> None:
        if self.is_pure and (not self.pattern or _is_same(self.pattern, self.begin)):
            self.pattern = self.pattern or self.begin
            self.lengths.append(self.length)
            self.reached = last
            self.first_restart = self.first_restart or step
        self.begin = []
        self.length, self.direction, self.is_pure = 0, 0, True


class RateTeeth(Probe):
    """Follows the rate of the first group of each optimizer from step to step."""

    name = "rate-teeth"

    def __init__(self, optimizers: Optimizers, schedules: ScheduleExam) -> None:
        self._optimizers = optimizers
        self._schedules = schedules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._teeth: dict[int, tuple[Any, _Teeth]] = {}

    def on_optimizer(self, optimizer: Any) -> None:
        kinds = type(optimizer).__name__, self._optimizers.built_at(optimizer)
        self._teeth[id(optimizer)] = (kinds, _Teeth())

    def on_page(self, lines: Page) -> None:
        for line in lines:
            if isinstance(line, Update) and line.rate is not None and line.optimizer in self._teeth:
                self._teeth[line.optimizer][1].add(line.rate, line.step - 1)

    def on_finish(self) -> None:
        for (kind, built), teeth in self._teeth.values():
            is_regular = len(teeth.lengths) >= _LEAST_TEETH and len(set(teeth.lengths)) == 1
            if not is_regular or self._schedules.kinds() & set(_CYCLIC):
                continue
            found = counted_anew()
            self.recorder.observe(
                RateBegunAnew(
                    step=teeth.first_restart,
                    optimizer=kind,
                    built=built,
                    times=len(teeth.lengths),
                    steps=teeth.lengths[0],
                    begin=teeth.pattern[0],
                    reached=teeth.reached,
                    highest=teeth.highest,
                    where=found[0] if found else None,
                    counter=found[1] if found else "",
                )
            )


def _is_same(pattern: list[float], begin: list[float]) -> bool:
    return all(abs(a - b) <= 1e-6 * abs(a) for a, b in zip(pattern, begin, strict=False))
