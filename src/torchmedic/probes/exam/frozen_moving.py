"""Parameters that were frozen and that a step of the optimizer moves all the same, by decay or momentum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from torchmedic.facts import FrozenMoved, Location
from torchmedic.probes.objects.holdings import Fingerprint, registered

_MOST = 400


class FrozenMoving:
    """Compares frozen parameters that hold a gradient before and after a step."""

    def __init__(self, frozen_at: Callable[[torch.Tensor], Location | None]) -> None:
        self._frozen_at = frozen_at
        self._before: list[tuple[torch.Tensor, Fingerprint]] = []
        self._decay = 0.0
        self.fact: FrozenMoved | None = None

    def look(self, optimizer: Any) -> None:
        self._before.clear()
        if self.fact is not None:
            return
        for group in optimizer.param_groups:
            frozen = [p for p in group["params"] if not p.requires_grad and p.grad is not None]
            self._before += [(p, Fingerprint.of(p)) for p in frozen[: _MOST - len(self._before)]]
            if frozen and isinstance(group.get("weight_decay"), (int, float)):
                self._decay = max(self._decay, float(group["weight_decay"]))

    def compare(self, optimizer: Any, step: int, roots: Callable[[], Iterable[nn.Module]]) -> None:
        moved = [p for p, then in self._before if not then.fits(p)]
        self._before.clear()
        where = next(filter(None, map(self._frozen_at, moved)), None)
        if where is None:
            return
        owners = registered(roots())
        names = [owners[id(p)].path for p in moved if id(p) in owners]
        self.fact = FrozenMoved(
            step=step,
            optimizer=type(optimizer).__name__,
            parameters=tuple(names[:4]),
            count=len(moved),
            decay=self._decay,
            where=where,
        )
