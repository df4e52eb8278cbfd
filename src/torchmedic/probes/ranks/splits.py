"""Data sets that a line cuts into parts, to see whether all ranks cut alike."""

from __future__ import annotations

import functools
import itertools
from dataclasses import field
from typing import Any

from torch.utils.data import Subset

from torchmedic.facts import Location, SplitSeen
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_ROWS = 256
_MOST_INDICES = 200_000
_MOST_SPLITS = 16


@late_dataclass()
class _Split:
    where: Location
    dataset: int
    rows: int
    sizes: list[int] = field(default_factory=list)
    parts: dict[int, int] = field(default_factory=dict)


class RankSplits(Probe):
    """Watches `Subset`, of which `random_split` makes one per part; written down at the end of a rank."""

    name = "rank-splits"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._splits: list[_Split] = []
        original = Subset.__init__
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def init(subset: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(subset, *args, **kwargs)
            note(subset, user_location())

        self._patches.replace(Subset, "__init__", init)

    def remove(self) -> None:
        self._patches.restore()
        self._splits.clear()

    def _note(self, subset: Any, where: Location | None) -> None:
        # Also in a fork that has not joined the others yet: nothing is written here.
        if where is None or len(self._splits) == _MOST_SPLITS or not hasattr(subset.indices, "__len__"):
            return
        last = self._splits[-1] if self._splits else None
        if last is None or (last.where, last.dataset) != (where, id(subset.dataset)):
            rows = len(subset.dataset) if hasattr(subset.dataset, "__len__") else 0
            last = _Split(where=where, dataset=id(subset.dataset), rows=rows)
            self._splits.append(last)
        part = len(last.sizes)
        last.sizes.append(len(subset.indices))
        for index in map(int, itertools.islice(subset.indices, _MOST_INDICES)):
            if 0 <= index < _ROWS:
                last.parts[index] = part

    def on_finish(self) -> None:
        for split in self._splits if self.recorder.world > 1 else ():
            if len(split.sizes) > 1:
                self.recorder.observe(
                    SplitSeen(
                        where=split.where,
                        rows=split.rows,
                        sizes=tuple(split.sizes),
                        parts=tuple(split.parts.get(row, -1) for row in range(min(_ROWS, split.rows))),
                        step=self.recorder.step,
                    )
                )
