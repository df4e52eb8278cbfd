"""Looks, after a `backward` that found no graph, for an optimizer that was given only what is frozen."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import nn

from torchmedic.facts import AddedPart, Location, NothingLearns
from torchmedic.probes.crash.scene import named_objects
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.freezes import FreezeExam
from torchmedic.probes.objects.holdings import registered
from torchmedic.record import Probe

_SAYS = "does not require grad and does not have a grad_fn"
_SHOWN = 4


class FrozenAtCrash(Probe):
    """Writes down who froze the parameters of the optimizer that was built last, where all of them are frozen."""

    name = "frozen-at-crash"

    def __init__(self, modules: Modules, optimizers: Optimizers, freezes: FreezeExam) -> None:
        self._modules = modules
        self._optimizers = optimizers
        self._freezes = freezes

    def on_crash(self, error: BaseException) -> None:
        optimizer = next(reversed(list(self._optimizers.alive())), None) if _SAYS in str(error) else None
        if optimizer is None:
            return
        given = [p for group in optimizer.param_groups for p in group["params"]]
        owners = registered(self._modules.roots())
        owner = next((owners[id(p)] for p in given if id(p) in owners), None)
        where = next(filter(None, map(self._freezes.frozen_at, given)), None)
        if owner is None or where is None or any(p.requires_grad for p in given):
            return
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        self.recorder.observe(
            NothingLearns(
                model=_name_of(owner.root, frames),
                optimizer=type(optimizer).__name__,
                built=self._optimizers.built_at(optimizer),
                parameters=tuple(owners[id(p)].path for p in given if id(p) in owners)[:_SHOWN],
                count=len(given),
                of_model=sum(1 for _ in owner.root.parameters()),
                learning=sum(p.requires_grad for p in owner.root.parameters()),
                where=where,
                added=tuple(self._added(owner.root, where))[:_SHOWN],
            )
        )

    def _added(self, root: nn.Module, frozen: Location) -> Iterator[AddedPart]:
        """Parts that were made after the model, in the function that froze it, above the line that did."""
        made = self._modules.born_at(root)
        first = made.line if made is not None and _is_beside(made, frozen) else 0
        for path, part in root.named_modules():
            born = self._modules.born_at(part) if path else None
            if born is not None and _is_beside(born, frozen) and first < born.line < frozen.line:
                yield AddedPart(path=path, where=born)


def _is_beside(place: Location, other: Location) -> bool:
    return (place.file, place.function) == (other.file, other.function)


def _name_of(root: nn.Module, frames: list[FrameType]) -> str:
    """What the failing frames call a model; `self.model` where an object there holds it."""
    for name, thing in named_objects(frames):
        if thing is root:
            return name
        held: dict[str, Any] = getattr(thing, "__dict__", None) or {} if name == "self" else {}
        inside = next((key for key, value in held.items() if value is root), None)
        if inside is not None:
            return f"{name}.{inside}"
    return type(root).__name__
