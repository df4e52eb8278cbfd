"""The rows that a model was trained on, by their fingerprints."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

import torch
from torch import nn

from torchmedic.probes.rows import fingerprints

_MOST_ROWS = 20_000
_MOST_TAKEN = 400
# Rows on a device have to be waited for.
_MOST_TAKEN_FROM_DEVICE = 24
_MOST_IN_VAIN = 10


@dataclass(slots=True)
class TrainedRows:
    """The rows that a module was trained on: a bounded number, and no more when nothing new comes."""

    module: weakref.ref[nn.Module]
    rows: set[int] = field(default_factory=set)
    taken: int = 0
    in_vain: int = 0
    on_device: bool = False

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
        self.rows.update(fingerprints(rows))
        self.on_device = rows.device.type != "cpu"
        self.taken += 1
        self.in_vain = 0 if len(self.rows) > before else self.in_vain + 1
