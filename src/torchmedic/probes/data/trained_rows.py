"""The rows that a model was trained on, by their fingerprints."""

from __future__ import annotations

import weakref
from dataclasses import field

import torch
from torch import nn

from torchmedic.late import late_dataclass
from torchmedic.probes.data.kin_rows import RowSample, coincide_by_chance
from torchmedic.probes.objects.holdings import Fingerprint, are_unlike
from torchmedic.probes.objects.rows import fingerprints, halves

_MOST_ROWS = 20_000
_MOST_TAKEN = 400
# Rows on a device have to be waited for.
_MOST_TAKEN_FROM_DEVICE = 24
_MOST_IN_VAIN = 10
_NOTED_EVERY = 20


@late_dataclass()
class TrainedRows:
    """The rows that a module was trained on: a bounded number, and no more when nothing new comes."""

    module: weakref.ref[nn.Module]
    rows: set[int] = field(default_factory=set)
    taken: int = 0
    in_vain: int = 0
    on_device: bool = False
    weights: Fingerprint | None = None
    sample: RowSample = field(default_factory=RowSample)
    tested: dict[tuple[str, ...], RowSample] = field(default_factory=dict)
    is_doubtful: bool = False
    halves: tuple[set[int], ...] = field(default_factory=lambda: (set(), set(), set()))
    chances: dict[tuple[str, ...], list[int]] = field(default_factory=dict)

    def begin_anew(self) -> None:
        """Forget everything where the weights were drawn again since: each fold of a cross-validation may do so."""
        now = self._largest()
        if self.is_doubtful and now is not None and self.weights is not None and are_unlike(self.weights, now):
            self.rows.clear()
            self.taken = self.in_vain = 0
            self.sample = RowSample()
            self.tested.clear()
            self.halves = (set(), set(), set())
            self.chances.clear()
        self.is_doubtful = False

    def _largest(self) -> Fingerprint | None:
        module = self.module()
        matrices = (
            [p for p in module.parameters() if p.ndim > 1 and p.device.type != "meta"] if module is not None else []
        )
        return Fingerprint.of(max(matrices, key=torch.Tensor.numel)) if matrices else None

    @property
    def is_full(self) -> bool:
        most = _MOST_TAKEN_FROM_DEVICE if self.on_device else _MOST_TAKEN
        return len(self.rows) >= _MOST_ROWS or self.taken >= most or self.in_vain >= _MOST_IN_VAIN

    @property
    def is_whole(self) -> bool:
        """Every step saw the same rows, as on one graph: names on a line then tell nodes, not rows, apart."""
        return self.taken < 3 or self.in_vain >= self.taken - 1

    def take(self, rows: torch.Tensor) -> None:
        before = len(self.rows)
        if self.taken % _NOTED_EVERY == 0:
            self.weights = self._largest()
        self.rows.update(fingerprints(rows))
        for known, found in zip(self.halves, halves(rows), strict=True):
            known.update(found)
        if not self.tested:  # what is trained on after a test may be what was tested, as when one walks forward in time
            self.sample.take(rows)
        self.on_device = rows.device.type != "cpu"
        self.taken += 1
        self.in_vain = 0 if len(self.rows) > before else self.in_vain + 1

    def count_halves(self, names: tuple[str, ...], rows: torch.Tensor) -> None:
        """Of rows of tokens that were not trained on, count how many begin, and end, like one that was."""
        counts = self.chances.setdefault(names, [0, 0, 0])
        for first, second, whole in zip(*halves(rows), strict=True):
            if whole not in self.halves[2]:
                counts[0] += 1
                counts[1] += first in self.halves[0]
                counts[2] += second in self.halves[1]

    def expected_by_chance(self, names: tuple[str, ...], rows: int) -> float:
        """How many of some test rows equal a trained one where beginnings and ends meet as it happens.

        Short windows of a text with few words do: whoever shares half of his tokens with others so often shares all.
        So do the answers to a few questions with a few boxes each.
        """
        if names in self.tested and coincide_by_chance(self.sample, self.tested[names]):
            return float(rows)
        unlike, first, second = self.chances.get(names, [0, 0, 0])
        return rows * first * second / unlike**2 if unlike else 0.0
