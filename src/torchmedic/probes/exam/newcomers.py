"""Layers that are new to a trained model, in a group of the optimizer whose rate is far below that of the old ones."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, NewLayerHeldBack
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.exam.still_groups import written_at
from torchmedic.probes.objects.holdings import Registered, registered
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_LEAST_STEPS = 10
_FAR_BELOW = 50.0
_MOST_NAMES = 4


@late_dataclass()
class _Groups:
    """The groups of one optimizer: which hold new layers, and the highest rate of each so far."""

    optimizer: weakref.ref[Any]
    kind: str
    built: Location | None
    new: list[list[Registered]]
    old: list[list[Registered]]
    born: Location | None
    was_loaded: bool
    highest: list[float]
    steps: int = 0


class NewcomerExam(Probe):
    """Knows which parameters were trained or loaded when an optimizer is built, and follows the rates of its groups."""

    name = "newcomer-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._loaded: dict[int, weakref.ref[nn.Module]] = {}
        self._trained: dict[int, weakref.ref[torch.Tensor]] = {}
        self._noted: set[int] = set()
        self._seen: list[_Groups] = []
        tell_after(self, self._patches, nn.Module, "load_state_dict", lambda _result, args: self._note_loaded(args[0]))

    def remove(self) -> None:
        self._patches.restore()

    def _note_loaded(self, module: nn.Module) -> None:
        self._loaded.update((id(part), weakref.ref(part)) for part in module.modules())

    def on_optimizer(self, optimizer: Any) -> None:
        self._noted.discard(id(optimizer))
        if len(optimizer.param_groups) > 1:
            self._meet(optimizer)
        self.recorder.wake(self)

    def on_step_done(self, optimizer: Any) -> None:
        groups: list[dict[str, Any]] = optimizer.param_groups
        if id(optimizer) not in self._noted:
            self._noted.add(id(optimizer))
            held = (p for group in groups for p in group["params"])
            self._trained.update((id(p), weakref.ref(p)) for p in held)
        for seen in self._seen:
            if seen.optimizer() is optimizer and len(groups) == len(seen.new):
                seen.steps = self._optimizers.steps_of(seen.optimizer())
                rates = (float(group.get("lr", 0.0)) for group in groups)
                seen.highest = [max(pair) for pair in zip(rates, seen.highest, strict=True)]
        if all(id(other) in self._noted for other in self._optimizers.alive()):
            steps = self._optimizers.steps_of(optimizer) if self._seen else sys.maxsize
            self.recorder.rest(self, until=self.recorder.step + max(1, steps // 4))

    def on_finish(self) -> None:
        for fact in filter(None, map(_fact, self._seen)):
            self.recorder.observe(fact)

    def _meet(self, optimizer: Any) -> None:
        owners = registered(self._modules.roots())
        held = [[owners[id(p)] for p in group["params"] if id(p) in owners] for group in optimizer.param_groups]
        old = [[one for one in group if self._is_old(one)] for group in held]
        latest = max((self._order(one) for group in old for one in group), default=None)
        if latest is None:
            return
        new = [
            [one for one in group if one not in of_old and self._order(one) > latest]
            for group, of_old in zip(held, old, strict=True)
        ]
        first = next((one for group in new for one in group), None)
        if first is not None:
            self._seen.append(
                _Groups(
                    optimizer=weakref.ref(optimizer),
                    kind=type(optimizer).__name__,
                    built=user_location(),
                    new=new,
                    old=old,
                    born=self._modules.born_at(first.module),
                    was_loaded=not self._trained,
                    highest=[0.0] * len(new),
                )
            )

    def _is_old(self, one: Registered) -> bool:
        parameter = one.module._parameters[one.attribute]
        trained, loaded = self._trained.get(id(parameter)), self._loaded.get(id(one.module))
        birth = self._modules.birth(one.module)
        return (
            (trained is not None and trained() is parameter)
            or (loaded is not None and loaded() is one.module)
            or (birth is not None and birth.pretrained)
        )

    def _order(self, one: Registered) -> int:
        birth = self._modules.birth(one.module)
        return birth.order if birth is not None else 0


def _fact(seen: _Groups) -> NewLayerHeldBack | None:
    """Where all new layers are in groups far below one that has none of them."""
    slow = [at for at, new in enumerate(seen.new) if new]
    fast = [at for at, new in enumerate(seen.new) if not new and seen.old[at]]
    if seen.steps < _LEAST_STEPS or not fast:
        return None
    rate, others = max(seen.highest[at] for at in slow), max(seen.highest[at] for at in fast)
    if not 0 < rate <= others / _FAR_BELOW:
        return None
    top = next(at for at in fast if seen.highest[at] == others)
    return NewLayerHeldBack(
        optimizer=seen.kind,
        rate=rate,
        others=others,
        new=tuple(one.path for one in seen.new[slow[0]])[:_MOST_NAMES],
        old=tuple(one.path for one in seen.old[top])[:_MOST_NAMES],
        fellows=len(seen.old[slow[0]]),
        where=written_at(slow[0], len(seen.new)) or seen.built,
        born=seen.born,
        was_loaded=seen.was_loaded,
    )
