"""A loss or a score that grows by the step and is written by the epoch, thinned where a training is long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.late import late_dataclass

_MOST_STRETCHES = 256
_WRITTEN_AT_FULL_RATE = 512


@late_dataclass()
class Stretch:
    """A run of values: their weighted sum, which stays on its device until somebody asks for the mean."""

    epoch: float
    step: int
    total: Any
    weight: float
    count: int

    def join(self, later: Stretch) -> None:
        self.epoch, self.step = later.epoch, later.step
        if isinstance(self.total, torch.Tensor) and isinstance(later.total, torch.Tensor):
            same = self.total.device == later.total.device
            self.total = self.total + later.total if same else float(self.total) + float(later.total)
        else:
            self.total = float(self.total) + float(later.total)
        self.weight += later.weight
        self.count += later.count

    @property
    def mean(self) -> float:
        return float(self.total) / self.weight


class MetricSeries:
    """The values of one name since the last point that was written, as stretches of equal length.

    Stretches matter only where no epoch ever ends: otherwise they are joined when it does.
    """

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.source = source
        self.waiting: list[Stretch] = []
        self._width = 1
        self._held: Stretch | None = None
        self._rounds_held = 0
        self._written = 0

    def add(self, value: Any, weight: float, epoch: float, step: int) -> None:
        weighted = value if weight == 1 else value * weight
        last = self.waiting[-1] if self.waiting else None
        if last is not None and (last.count < self._width or last.step == step):
            if type(weighted) is float and type(last.total) is float:  # at every step: no object for one number
                last.epoch, last.step = epoch, step
                last.total += weighted
                last.weight += weight
                last.count += 1
            else:
                last.join(Stretch(epoch, step, weighted, weight, 1))
            return
        self.waiting.append(Stretch(epoch, step, weighted, weight, 1))
        if len(self.waiting) == _MOST_STRETCHES:
            self._width *= 2
            for left, right in zip(self.waiting[::2], self.waiting[1::2], strict=True):
                left.join(right)
            self.waiting = self.waiting[::2]

    def close_round(self) -> Stretch | None:
        """One point for what was seen since the last round; in a long training only for every second, fourth, ..."""
        if not self.waiting:
            return None
        whole = self.waiting[0]
        for later in self.waiting[1:]:
            whole.join(later)
        self.waiting, self._width = [], 1
        if self._held is not None:
            self._held.join(whole)
            whole = self._held
        self._rounds_held += 1
        self._held = whole
        if self._rounds_held < 1 << (self._written // _WRITTEN_AT_FULL_RATE):
            return None
        return self._release()

    def _release(self) -> Stretch | None:
        held, self._held, self._rounds_held = self._held, None, 0
        self._written += held is not None
        return held

    def close(self, rounds: int) -> Iterator[Stretch]:
        """What is left at the end: one point, or all stretches where no epoch ever ended."""
        if rounds == 0 and self._written == 0:
            yield from self.waiting
            self.waiting = []
            return
        last = self.close_round() or self._release()
        if last is not None:
            yield last
