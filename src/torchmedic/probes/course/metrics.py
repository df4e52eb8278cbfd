"""Follows losses and scores by the epoch: what is computed, what is logged, and when an epoch ends."""

from __future__ import annotations

import math
import sys
from types import CodeType
from typing import Any

import torch

from torchmedic import metrics as api
from torchmedic.facts import EarlyStop, MetricPoint
from torchmedic.facts.metrics import split_of
from torchmedic.journal import Backward, Page
from torchmedic.probes.course.evaluation_losses import EvaluationLosses
from torchmedic.probes.course.metric_series import MetricSeries, Stretch
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.planned_epochs import planned_epochs
from torchmedic.record import Probe, Recorder, shielded

_MOST_SERIES = 64
_LINES_LEARNED = 8
# Of losses on a device each that is followed costs a launch: how many backward passes are followed one by one, then one
# in how many.
_ON_DEVICE = ((64, 1), (1024, 4), (sys.maxsize, 16))


class Metrics(Probe):
    """An epoch is a pass over the training data; without a DataLoader, what lies between two evaluations."""

    name = "metrics"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self.epoch = 0
        self._series: dict[tuple[str, str], MetricSeries] = {}
        self._source_of: dict[str, str] = {}
        self._rounds = 0
        self._pass_began = False
        self._evaluated = False
        self._has_passes = False
        self._trained_on: int | None = None
        self._candidate: int | None = None
        self._fed_at: dict[int, int] = {}  # the backward passes made before a data set was last read
        self._lines: dict[tuple[CodeType, int], str] = {}
        self._stops: dict[int, EarlyStop] = {}
        self._backwards = 0
        self._patches = Patches()
        self._evaluations = EvaluationLosses(shielded(self)(self._take_evaluation))
        self._evaluations.install()
        api.listen(self)

    def remove(self) -> None:
        api.stop_listening(self)
        self._evaluations.remove()
        self._patches.restore()

    # -- when an epoch ends ----------------------------------------------------------------------------------------

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if torch.is_grad_enabled():
            if self._pass_began:
                self.recorder.journal.turn()
            dataset = id(getattr(iterator, "_dataset", None))
            self._fed_at[dataset] = self.recorder.backwards
            if getattr(iterator, "_num_yielded", 0) == 1:
                self._begin_pass(dataset)
            elif dataset == self._trained_on != self._candidate:
                # The other data was read in between, and the pass goes on.
                self._pass_began, self._candidate = False, dataset

    def _begin_pass(self, dataset: int) -> None:
        """A second loader that is read beside the first (pairs, an adversary) does not count epochs of its own."""
        self.recorder.journal.turn()  # what was trained so far belongs to the pass before
        known = self._trained_on
        if known is None or dataset == known or self._fed_at.get(known) != self.recorder.backwards:
            self._pass_began = True
            self._candidate = dataset

    def on_page(self, lines: Page) -> None:
        for line in lines:
            if isinstance(line, Backward):
                self._note_backward(line)

    def _note_backward(self, line: Backward) -> None:
        if self._pass_began:
            self._trained_on, self._has_passes = self._candidate, True
            self._turn_epoch()
        elif self._evaluated:
            self._close_round()
            self.epoch += not self._has_passes
        elif not self.epoch:
            self._turn_epoch()
        self._take_training_loss(line)

    def _turn_epoch(self) -> None:
        if self.epoch:
            self._close_round()
        else:
            self._look_for_plan()
            for series in self._series.values():
                self._write(series, series.close_round())
        self._pass_began = False
        self.epoch += 1

    def _close_round(self) -> None:
        self._rounds += 1
        self._evaluated = False
        for series in self._series.values():
            self._write(series, series.close_round())

    def _look_for_plan(self) -> None:
        plan = planned_epochs(sys._getframe(1))
        if plan is not None:
            self.recorder.observe(plan)

    # -- what is followed ------------------------------------------------------------------------------------------

    def _take_training_loss(self, line: Backward) -> None:
        value = line.loss
        self._backwards += 1
        if type(value) is not float and self._backwards % next(n for most, n in _ON_DEVICE if self._backwards <= most):
            return
        if value is not None:
            # The update that this loss belongs to is still to come.
            self._add(self._training_name(line), _number(value), "phase", step=line.step + 1)

    def _training_name(self, line: Backward) -> str:
        """Several losses with a `backward` of their own are told apart by the variable on that line."""
        if line.step > _LINES_LEARNED and len(self._lines) < 2:
            return "train loss"
        if line.at is None:
            return "train loss"
        name = self._lines.get(line.at)
        if name is None:
            name = self._lines[line.at] = "train loss" if not self._lines else f"train loss {len(self._lines) + 1}"
        return name

    def _take_evaluation(self, name: str, value: Any, weight: float) -> None:
        if not self.recorder.clock_is_held:
            self.recorder.journal.turn()
            self._evaluated = True
            self._add(name, value, "phase", weight)

    def take(self, name: str, value: Any, source: str) -> None:
        """A number from the script or from a tracker; one that two of them hear counts once."""
        if not self.recorder.is_ours or self.recorder.clock_is_held:
            return
        number = _number(value)
        if number is None or self._source_of.setdefault(name, source) != source:
            return
        self.recorder.journal.turn()
        self._evaluated |= split_of(name) in ("validation", "test")
        self._add(str(name)[:120], number, source)

    def take_stop(self, stop: EarlyStop) -> None:
        """The last state of each early stopping is written when the script is over."""
        self._stops[hash((stop.monitor, stop.source))] = stop

    def _add(self, name: str, value: Any, source: str, weight: float = 1.0, step: int | None = None) -> None:
        series = self._series.get((name, source))
        if series is None:
            if len(self._series) == _MOST_SERIES:
                return
            series = self._series[name, source] = MetricSeries(name, source)
        series.add(value, weight, self.epoch, self.recorder.step if step is None else step)

    # -- what is written -------------------------------------------------------------------------------------------

    def on_finish(self) -> None:
        api.stop_listening(self)
        for series in self._series.values():
            for stretch in series.close(self._rounds):
                self._write(series, stretch)
        for stop in self._stops.values():
            self.recorder.observe(stop)

    def _write(self, series: MetricSeries, stretch: Stretch | None) -> None:
        if stretch is None:
            return
        value = stretch.mean
        # Without an epoch that ended or a pass over data, a step is all there is to count by.
        epoch = stretch.epoch if self._rounds or self._has_passes else float(stretch.step)
        self.recorder.observe(
            MetricPoint(
                step=stretch.step,
                epoch=epoch,
                name=series.name,
                value=value if math.isfinite(value) else math.nan,
                source=series.source,
                count=stretch.count,
            )
        )


def _number(value: Any) -> Any:
    """A float, or a tensor on a device that is read later; None for what is no single number."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1 or value.is_complex():
            return None
        return value.detach().reshape(()).float() if value.device.type != "cpu" else float(value.detach())
    try:
        return None if isinstance(value, (str, bool)) else float(value)
    except (TypeError, ValueError):
        return None
