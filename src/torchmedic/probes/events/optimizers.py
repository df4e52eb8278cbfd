"""Watches optimizers: where they were built, the step clock, and who is stepped and cleared when."""

from __future__ import annotations

import functools
import weakref
from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.optim import optimizer as torch_optimizer

from torchmedic.facts import Location
from torchmedic.journal import Update, rates_of
from torchmedic.probes.events.modes import sweep
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import location_of, package_below, user_frame
from torchmedic.record import Probe, Recorder, shielded


def parameters_of(optimizer: Any) -> list[Any]:
    """What an optimizer holds, without what is not there yet: a lazy layer has no values before its first call."""
    return [p for group in optimizer.param_groups for p in group["params"] if not is_lazy(p)]


class Optimizers(Probe):
    """Turns torch's global optimizer hooks into events."""

    name = "optimizers"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._built: weakref.WeakKeyDictionary[Any, Location | None] = weakref.WeakKeyDictionary()
        self._packages: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._steps: dict[int, int] = {}
        self._watch_construction()
        self._watch_zero_grad()
        self._handles = [
            torch_optimizer.register_optimizer_step_pre_hook(shielded(self)(self._before)),
            torch_optimizer.register_optimizer_step_post_hook(shielded(self)(self._after)),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._patches.restore()

    def built_at(self, optimizer: Any) -> Location | None:
        """The user's line that built an optimizer."""
        return self._built.get(optimizer)

    def built_by(self, optimizer: Any) -> str:
        """The package that built an optimizer for the user; empty where the user did."""
        return self._packages.get(optimizer, "")

    def alive(self) -> list[Any]:
        return list(self._built)

    def are_any(self) -> bool:
        """Whether any is alive: asked in every step, where a list of them would cost more than the answer is worth."""
        return len(self._built) > 0

    def steps_of(self, optimizer: Any) -> int:
        """How many steps an optimizer has made."""
        return self._steps.get(id(optimizer), 0)

    def _watch_construction(self) -> None:
        original = torch.optim.Optimizer.__init__
        meet = shielded(self)(self._meet)

        @functools.wraps(original)
        def init(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(optimizer, *args, **kwargs)
            if self.recorder.is_ours:
                maker = _maker_of(optimizer)
                meet(optimizer, None if maker is None else location_of(maker), package_below(user_frame()))

        self._patches.replace(torch.optim.Optimizer, "__init__", init)

    def _meet(self, optimizer: Any, built: Location | None, package: str = "") -> None:
        self._built[optimizer] = built
        self._packages[optimizer] = package
        self._steps[id(optimizer)] = 0
        self.recorder.journal.turn()  # whoever reads it knows an optimizer by its `id`
        if built is not None:
            self.recorder.begin_cycle()
        self.recorder.emit("on_optimizer", optimizer)

    def _watch_zero_grad(self) -> None:
        original = torch.optim.Optimizer.zero_grad
        meet = shielded(self)(self._meet_late)

        @functools.wraps(original)
        def zero_grad(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            if id(optimizer) not in self._steps:
                meet(optimizer)
            self.recorder.emit("on_zero_grad", optimizer)
            with frame_hidden:
                original(optimizer, *args, **kwargs)

        self._patches.replace(torch.optim.Optimizer, "zero_grad", zero_grad)

    def _meet_late(self, optimizer: Any) -> None:
        """One that was built before anyone watched is known when it is first used."""
        if self.recorder.is_ours:
            self._meet(optimizer, None)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if id(optimizer) not in self._steps:
            self._meet_late(optimizer)
        return self.recorder.emit("on_step", optimizer, args, kwargs)

    def _after(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        recorder = self.recorder
        recorder.count_step(optimizer)
        if not recorder.clock_is_held and recorder.is_ours:
            key = id(optimizer)
            self._steps[key] = self._steps.get(key, 0) + 1
            recorder.journal.write(Update(recorder.step, key, *rates_of(optimizer)))
        sweep()
        recorder.emit("on_step_done", optimizer)


def _maker_of(optimizer: Any) -> FrameType | None:
    """The user's frame that asked for an optimizer: where its class is the user's own, not that class's `__init__`."""
    inside = found = user_frame()
    while found is not None and found.f_code.co_name == "__init__" and _receiver(found) is optimizer:
        found = user_frame(found.f_back) if found.f_back is not None else None
    return found or inside


def _receiver(frame: FrameType) -> Any:
    """The first argument of a frame's function, by whatever name."""
    return next((frame.f_locals.get(name) for name in frame.f_code.co_varnames[:1]), None)
