"""BatchNorm layers that the script has put into evaluation mode one by one, and in which mode they train."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

from torch import nn

from torchmedic.facts import Location, NormsBackInTraining
from torchmedic.late import late_dataclass

_MOST = 500


@late_dataclass()
class _Norm:
    layer: weakref.ref[nn.Module]
    frozen: Location
    in_training: int = 0
    in_evaluation: int = 0


class FrozenNorms:
    """Nobody evaluates a single BatchNorm: `eval()` on one means that its statistics are to stay as they are."""

    def __init__(self) -> None:
        self._norms: dict[int, _Norm] = {}

    def note(self, layer: nn.Module, where: Location | None) -> None:
        if where is not None and len(self._norms) < _MOST:
            self._norms[id(layer)] = _Norm(weakref.ref(layer), where)

    def look(self) -> None:
        """At a training step: which of them are as they were left?"""
        for norm in self._norms.values():
            layer = norm.layer()
            if layer is not None:
                norm.in_training += layer.training
                norm.in_evaluation += not layer.training

    def facts(self, train_called: Location | None) -> Iterator[NormsBackInTraining]:
        """One for each line that froze some."""
        for where in dict.fromkeys(norm.frozen for norm in self._norms.values()):
            norms = [norm for norm in self._norms.values() if norm.frozen == where]
            back = [norm for norm in norms if norm.in_training and not norm.in_evaluation]
            if len(back) == len(norms):
                yield NormsBackInTraining(
                    norms=len(norms), steps=max(n.in_training for n in back), where=where, train_called=train_called
                )
