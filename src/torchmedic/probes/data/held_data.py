"""Looks once, when training begins, at the arrays that the script holds its data in."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from torchmedic.facts import HeldCode, HeldColumn, Observation
from torchmedic.probes.data.coarse_fields import coarse_fields
from torchmedic.probes.data.cut_fields import cut_fields
from torchmedic.probes.data.edge_splits import edges_turned_round
from torchmedic.probes.data.held_arrays import held_arrays
from torchmedic.probes.data.held_checks import facts_of
from torchmedic.probes.data.integer_stores import integer_stores
from torchmedic.probes.data.missing_codes import known_to_script
from torchmedic.probes.data.untyped_stores import unseen_stores
from torchmedic.probes.events.loaders import base_of
from torchmedic.record import Probe, Recorder

_MOST_DATASETS = 4


class HeldData(Probe):
    """Keeps the data sets that batches came from before the first step, weakly."""

    name = "held-data"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._datasets: list[weakref.ref[Any]] = []
        self._is_over = False

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self._is_over or len(self._datasets) >= _MOST_DATASETS:
            return
        dataset = base_of(iterator._dataset)
        if not any(known() is dataset for known in self._datasets) and hasattr(type(dataset), "__weakref__"):
            self._datasets.append(weakref.ref(dataset))

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.rest(self)
        if self._is_over or self.recorder.clock_is_held:
            return
        self._is_over = True
        datasets = [dataset for known in self._datasets if (dataset := known()) is not None]
        arrays = held_arrays(datasets, sys._getframe(1))
        found: list[Observation] = list(cut_fields(arrays, self.recorder.step))
        found += integer_stores(arrays, self.recorder.step)
        found += unseen_stores(self.recorder.step)
        found += [fact for held in arrays for fact in facts_of(held, arrays, self.recorder.step)]
        if not any(isinstance(fact, HeldColumn) for fact in found):
            found += coarse_fields(arrays, self.recorder.step)
        handled = known_to_script()[0] if any(isinstance(fact, HeldCode) for fact in found) else set()
        turned = edges_turned_round(sys._getframe(1), self.recorder.step)
        found += [turned] if turned is not None else []
        for fact in found:
            if not (isinstance(fact, HeldCode) and abs(fact.value) in handled):
                self.recorder.observe(fact)
