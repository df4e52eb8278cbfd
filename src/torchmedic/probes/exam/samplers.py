"""The exam of samplers: distributed ones without `set_epoch`, weighted ones with fewer weights than there are rows."""

from __future__ import annotations

import ast
import functools
import weakref
from typing import Any

from torch.utils import data as torch_data
from torch.utils.data import distributed

from torchmedic.facts import Location, RowsWithoutWeight, SamplerEpochNeverSet
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location, user_location
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Probe, Recorder, shielded


@late_dataclass()
class _Sampler:
    reference: weakref.ref[Any]
    built: Location | None
    iterated: Location | None = None
    last_epoch: int = -1
    same: int = 0
    iterations: int = 0
    replicas: int = 1


class SamplerExam(Probe):
    """Wraps the constructors of samplers and loaders, and the iteration of `DistributedSampler`."""

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
            with frame_hidden:
                init(sampler, *args, **kwargs)
            built(sampler)

        @functools.wraps(iterate)
        def iterate_(sampler: Any) -> Any:
            iterated(sampler)
            with frame_hidden:
                return iterate(sampler)

        self._weighted: dict[int, tuple[weakref.ref[Any], Location | None]] = {}
        self._short: dict[int, RowsWithoutWeight] = {}
        self._watch_built(torch_data.WeightedRandomSampler, self._weighted_built)
        self._watch_built(torch_data.DataLoader, self._loader_built)
        self._patches.replace(kind, "__init__", init_)
        self._patches.replace(kind, "__iter__", iterate_)

    def remove(self) -> None:
        self._patches.restore()

    def _watch_built(self, kind: Any, told: Any) -> None:
        original = kind.__init__
        note = shielded(self)(told)

        @functools.wraps(original)
        def init(made: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(made, *args, **kwargs)
            if self.recorder.is_ours:
                note(made)

        self._patches.replace(kind, "__init__", init)

    def _weighted_built(self, sampler: Any) -> None:
        self._weighted[id(sampler)] = (weakref.ref(sampler), user_location())

    def _loader_built(self, loader: Any) -> None:
        kept, built = self._weighted.get(id(loader.sampler), (None, None))
        sampler = kept() if kept is not None else None
        rows = len(loader.dataset) if hasattr(loader.dataset, "__len__") else 0
        if sampler is not None and sampler is loader.sampler and len(sampler.weights) < rows:
            self._short[id(sampler)] = RowsWithoutWeight(
                weights=len(sampler.weights),
                rows=rows,
                draws=sampler.num_samples,
                where=built,
                loader=user_location(),
            )

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
        for short in self._short.values():
            self.recorder.observe(short)
        for known in self._samplers.values():
            if known.iterations >= 2 and known.same == known.iterations - 1 and self.recorder.step:
                loop, counter = _loop_around(known.iterated)
                self.recorder.observe(
                    SamplerEpochNeverSet(
                        iterations=known.iterations,
                        replicas=known.replicas,
                        where=known.iterated,
                        built=known.built,
                        loop=loop,
                        counter=counter,
                    )
                )


def _loop_around(inner: Location | None) -> tuple[Location | None, str]:
    """The loop that a loop over batches stands in, and what it counts."""
    file = file_at(inner)
    tree = parsed(file) if file else None
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)] if tree is not None else []
    line = inner.line if inner is not None else 0
    if inner is None or not any(loop.lineno == line for loop in loops):
        return None, ""
    around = [loop for loop in loops if loop.lineno < line <= (loop.end_lineno or 0)]
    found = max(around, key=lambda loop: loop.lineno, default=None)
    if found is None or not isinstance(found.target, ast.Name):
        return None, ""
    return location(file, found.lineno, inner.function), found.target.id
