"""Samples that an evaluation never sees, because the loader drops the last batch and always goes in the same order."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from torch.utils.data import BatchSampler, SequentialSampler

from torchmedic.facts import Location, SamplesLeftOut
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.record import Probe, Recorder

_LEAST_SHARE = 0.05
_MOST_LOADERS = 40


@late_dataclass()
class _Read:
    """A loader that leaves out its last rows, and whether a step was made between two of its batches."""

    names: tuple[str, ...]
    built: Location | None
    rows: int
    batch_size: int
    iterator: weakref.ref[Any]
    step: int
    trains: bool = False


class LeftOut(Probe):
    """Notes the loaders that drop rows at their first batch, and which of them are trained on."""

    name = "left-out"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._read: weakref.WeakKeyDictionary[BatchSampler, _Read | None] = weakref.WeakKeyDictionary()
        self._found: list[_Read] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        sampler = iterator._index_sampler
        if not isinstance(sampler, BatchSampler):
            return
        if sampler not in self._read:
            self._begin(sampler, iterator)
            return
        read = self._read[sampler]
        if read is not None:
            is_same_pass = read.iterator() is iterator
            read.trains |= is_same_pass and self.recorder.step > read.step
            read.iterator, read.step = weakref.ref(iterator), self.recorder.step

    def _begin(self, sampler: BatchSampler, iterator: Any) -> None:
        self._read[sampler] = None
        order: Any = getattr(sampler, "sampler", None)  # samplers of frameworks inherit, and keep it elsewhere
        if not (isinstance(order, SequentialSampler) and sampler.drop_last) or len(self._found) >= _MOST_LOADERS:
            return
        rows, size = len(order), sampler.batch_size
        if rows > size and rows % size >= _LEAST_SHARE * rows:
            names, built = names_of_loader(sampler, sys._getframe(2)), self._loaders.built_for(iterator)
            read = _Read(names, built, rows, size, weakref.ref(iterator), self.recorder.step)
            self._read[sampler] = read
            self._found.append(read)

    def on_finish(self) -> None:
        for read in self._found if self.recorder.step else ():
            if not read.trains and read.built is not None and read.rows // read.batch_size > 1:
                self.recorder.observe(
                    SamplesLeftOut(
                        step=self.recorder.step,
                        loader=read.names[-1] if read.names else "",
                        rows=read.rows,
                        batch_size=read.batch_size,
                        where=read.built,
                    )
                )
