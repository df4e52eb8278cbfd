"""Several wrappers, one of which nothing goes through: the others are called, and its inner module is used alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchmedic.facts import Location, WrapperPassed
from torchmedic.probes.source.frames import outward

LEAST_STEPS = 3

Place = Callable[[nn.Module, FrameType], Location | None]
Norms = Callable[[Any], dict[str, float]]


class PassedWrappers:
    """Hears of the layers that are called in the first steps, and which wrapper each of them belongs to."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._owners: dict[int, Any] = {}
        self._known: tuple[int, ...] = ()
        self._used: set[int] = set()
        self._passed: dict[int, Location | None] = {}
        self._taught: Counter[int] = Counter()

    def note(self, module: nn.Module, frame: FrameType, wrappers: list[Any]) -> None:
        """A layer is called: inside the wrapper around it, or past it."""
        if len(wrappers) < 2:
            return
        self._learn(wrappers)
        wrapper = self._owners.get(id(module))
        if wrapper is None or id(wrapper) in self._used:
            return
        if module is wrapper or _is_inside(wrapper, frame):
            self._used.add(id(wrapper))
        elif id(wrapper) not in self._passed:
            self._passed[id(wrapper)] = self._place(wrapper.module, frame)

    def step(self, optimizer: Any, wrappers: list[Any]) -> None:
        """An update: count for each wrapper that was passed by whether its weights had a gradient to step with."""
        if len(wrappers) < 2 or not self._passed:
            return
        stepped = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for wrapper in wrappers:
            if id(wrapper) in self._passed and id(wrapper) not in self._used:
                own = (p for p in wrapper.module.parameters() if id(p) in stepped)
                self._taught[id(wrapper)] += _has_gradient(own)

    def facts(self, wrappers: Iterable[Any], norms: Norms, step: int) -> Iterator[WrapperPassed]:
        """Of the wrappers that nothing went through so far, though their weights were taught."""
        for wrapper in wrappers:
            key = id(wrapper)
            if key in self._passed and key not in self._used and self._taught[key] >= LEAST_STEPS:
                yield WrapperPassed(
                    step=step,
                    model=type(wrapper.module).__name__,
                    where=self._passed[key],
                    steps=self._taught[key],
                    others=len(self._used),
                    norms=norms(wrapper),
                )

    def _learn(self, wrappers: list[Any]) -> None:
        known = tuple(map(id, wrappers))
        if known != self._known:
            self._known = known
            self._owners = {id(part): wrapper for wrapper in wrappers for part in wrapper.modules()}


def _is_inside(wrapper: Any, frame: FrameType) -> bool:
    inside = DistributedDataParallel._run_ddp_forward.__code__
    return any(f.f_code is inside and f.f_locals.get("self") is wrapper for f in outward(frame))


def _has_gradient(parameters: Iterable[torch.Tensor]) -> bool:
    return any(p.grad is not None and bool((p.grad != 0).any()) for p in parameters)
