"""Whether every step starts a loader anew and so sees its first batch only."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import FirstBatchOnly, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.source.frames import user_frame, user_location
from torchmedic.probes.source.ways_out import is_left_by_choice
from torchmedic.record import Probe, Recorder

_LEAST_STARTS = 12
_MOST_LOADERS = 8


@late_dataclass()
class _Starts:
    """How often a data set was begun, always with the same rows."""

    indices: Any
    batches: int
    where: Location | None
    built: Location | None
    times: int = 1
    is_over: bool = False


class FirstBatchAgain(Probe):
    """Follows each loader until it hands out a second batch, or begins with other rows."""

    name = "first-batch-again"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._starts: dict[int, _Starts] = {}

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self.recorder.clock_is_held or not torch.is_grad_enabled():
            return
        key = id(base_of(iterator._dataset))
        known = self._starts.get(key)
        if known is None:
            if len(self._starts) < _MOST_LOADERS:
                self._starts[key] = self._begin(iterator)
        elif not known.is_over:
            is_first = getattr(iterator, "_num_yielded", 0) == 1
            known.is_over = not is_first or self._loaders.batch_facts(iterator)[0] != known.indices
            known.times += 1

    def _begin(self, iterator: Any) -> _Starts:
        indices = self._loaders.batch_facts(iterator)[0]
        try:
            batches = len(iterator)
        except (TypeError, NotImplementedError):
            batches = 0  # a stream
        return _Starts(
            indices=indices,
            batches=batches,
            where=user_location(),
            built=self._loaders.built_for(iterator),
            is_over=batches < 2
            or not isinstance(indices, list)
            or getattr(iterator, "_num_yielded", 0) != 1
            or is_left_by_choice(user_frame()),
        )

    def on_finish(self) -> None:
        for seen in self._starts.values():
            if not seen.is_over and seen.times >= _LEAST_STARTS and self.recorder.step >= _LEAST_STARTS:
                self.recorder.observe(
                    FirstBatchOnly(
                        times=seen.times,
                        batches=seen.batches,
                        rows=len(seen.indices),
                        where=seen.where,
                        built=seen.built,
                        step=self.recorder.step,
                    )
                )
