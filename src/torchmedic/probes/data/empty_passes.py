"""Loaders that are walked through and hand out nothing."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any

from torch.utils.data import dataloader

from torchmedic.facts import Location, PassWithoutBatches
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOADERS = 20


@late_dataclass()
class _Empty:
    """A loader of which a pass was empty; its sampler is kept, so that its number stays its own."""

    sampler: Any
    names: tuple[str, ...]
    built: Location | None
    where: Location | None
    dataset: str
    passes: int = 0


class EmptyPasses(Probe):
    """Hears of the sampler's end; one that comes before any index was asked for is an empty pass."""

    name = "empty-passes"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._empty: dict[int, _Empty] = {}
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()
        following: Any = dataloader._BaseDataLoaderIter._next_index
        note = shielded(self)(self._note)

        @functools.wraps(following)
        def next_index(iterator: Any) -> Any:
            try:
                with frame_hidden:
                    return following(iterator)
            except StopIteration:
                # With workers, batches are asked for before they are handed out.
                if getattr(iterator, "_send_idx", iterator._num_yielded) == 0:
                    note(iterator)
                raise

        self._patches.replace(dataloader._BaseDataLoaderIter, "_next_index", next_index)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, iterator: Any) -> None:
        # Each worker is offered work: an iterator with several of them meets the end several times.
        if not self.recorder.is_ours or self.recorder.clock_is_held or iterator in self._known:
            return
        self._known.add(iterator)
        sampler = iterator._index_sampler
        if id(sampler) not in self._empty and len(self._empty) < _MOST_LOADERS:
            self._empty[id(sampler)] = _Empty(
                sampler=sampler,
                names=names_of_loader(sampler, sys._getframe(1)),
                built=self._loaders.built_for(iterator),
                where=user_location(),
                dataset=type_name(iterator._dataset),
            )
        if id(sampler) in self._empty:
            self._empty[id(sampler)].passes += 1

    def on_finish(self) -> None:
        for seen in self._empty.values():
            samples = _length(getattr(seen.sampler, "sampler", None))
            if samples is not None:
                self.recorder.observe(
                    PassWithoutBatches(
                        step=self.recorder.step,
                        names=seen.names,
                        built=seen.built,
                        where=seen.where,
                        dataset=seen.dataset,
                        samples=samples,
                        batch_size=int(getattr(seen.sampler, "batch_size", 0) or 0),
                        drop_last=bool(getattr(seen.sampler, "drop_last", False)),
                        passes=seen.passes,
                    )
                )


def _length(sampler: Any) -> int | None:
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):
        return None
