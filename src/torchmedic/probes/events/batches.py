"""Turns batches handed out by a DataLoader into events."""

from __future__ import annotations

import functools
from typing import Any

from torch.utils.data import dataloader

from torchmedic.probes.events.patching import Patches, hide_frame
from torchmedic.record import Probe, Recorder


class Batches(Probe):
    """Wraps the `__next__` that all DataLoader iterators share."""

    name = "batches"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = dataloader._BaseDataLoaderIter.__next__

        @functools.wraps(original)
        def fetch(iterator: Any) -> Any:
            again = recorder.emit("on_fetch", iterator)
            if again is not None:
                return again.batch
            try:
                batch = original(iterator)
            except BaseException as error:
                if isinstance(error, StopIteration):
                    recorder.emit("on_end", iterator)
                hide_frame(error)
                raise
            recorder.emit("on_batch", batch, iterator)
            return batch

        self._patches.replace(dataloader._BaseDataLoaderIter, "__next__", fetch)

    def remove(self) -> None:
        self._patches.restore()
