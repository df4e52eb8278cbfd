"""The exam of distributed samplers: without `set_epoch`, every epoch has the same order."""

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass
from typing import Any

from torch.utils.data import distributed

from torchmedic.facts import Location, SamplerEpochNeverSet
from torchmedic.probes.frames import user_location
from torchmedic.probes.patching import Patches
from torchmedic.record import Probe, Recorder, shielded


@dataclass(slots=True)
class _Sampler:
    reference: weakref.ref[Any]
    built: Location | None
    iterated: Location | None = None
    last_epoch: int = -1
    same: int = 0
    iterations: int = 0
    replicas: int = 1


class SamplerExam(Probe):
    """Wraps the constructor and the iteration of `DistributedSampler`."""

    name = "sampler-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._samplers: dict[int, _Sampler] = {}
        kind = distributed.DistributedSampler
        init, iterate = kind.__init__, kind.__iter__
        built, iterated = shielded(self)(self._built), shielded(self)(self._iterated)

        @functools.wraps(init)
        def init_(sampler: Any, *args: Any, **kwargs: Any) -> None:
            init(sampler, *args, **kwargs)
            built(sampler)

        @functools.wraps(iterate)
        def iterate_(sampler: Any) -> Any:
            iterated(sampler)
            return iterate(sampler)

        self._patches.replace(kind, "__init__", init_)
        self._patches.replace(kind, "__iter__", iterate_)

    def remove(self) -> None:
        self._patches.restore()

    def _built(self, sampler: Any) -> None:
        self._samplers[id(sampler)] = _Sampler(weakref.ref(sampler), user_location())

    def _iterated(self, sampler: Any) -> None:
        known = self._samplers.get(id(sampler))
        if known is not None and self.recorder.is_ours and sampler.shuffle:
            known.iterations += 1
            known.replicas = sampler.num_replicas
            known.same += sampler.epoch == known.last_epoch
            known.last_epoch = sampler.epoch
            known.iterated = known.iterated or user_location()

    def on_finish(self) -> None:
        for known in self._samplers.values():
            if known.iterations >= 2 and known.same == known.iterations - 1 and self.recorder.step:
                self.recorder.observe(
                    SamplerEpochNeverSet(
                        iterations=known.iterations, replicas=known.replicas, where=known.iterated, built=known.built
                    )
                )
