"""Counts the hooks that the user's lines register on modules: those that pile up were never removed."""

from __future__ import annotations

import functools
import sys
import weakref
from collections import deque
from collections.abc import ValuesView
from dataclasses import field
from types import CellType, FrameType
from typing import Any

import torch
from torch import nn

from torchmedic.facts import PilingHooks
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.memory.unread_piles import own_bytes
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.expressions import vars_of
from torchmedic.probes.source.frames import is_user_file, location_in
from torchmedic.record import Probe, Recorder, shielded

_METHODS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
)
_LEAST_LIVE = 20
_LEAST_STEPS = 10
# Of hooks that come anew in every epoch there are few, but none of them is ever gone.
_LEAST_EPOCHS, _MOST_EPOCHS = 4, 40
_FURTHER = 1.25
_MOST_PILES = 2000
_CONTAINERS = (list, tuple, deque, ValuesView)


@late_dataclass()
class _Pile:
    """The hooks of one line on one module, and how many of them were alive at which step."""

    module: weakref.ref[nn.Module]
    hooks: Any  # a weak reference to the dictionary of the module that holds them
    name: str
    ids: list[int] = field(default_factory=list)
    registered: int = 0
    next_count: int = _LEAST_LIVE
    counts: list[tuple[int, int]] = field(default_factory=list)
    steps: int = 0
    last_step: int = -1

    def count(self, step: int) -> None:
        held = self.hooks()
        if held is None:
            return
        self.ids = [each for each in self.ids if each in held]
        self.next_count = max(_LEAST_LIVE, int(len(self.ids) * _FURTHER))
        self.counts.append((step, len(self.ids)))

    def shrinks(self) -> bool:
        """Whether somebody takes the hooks away now and then."""
        return any(2 * later < earlier for (_, earlier), (_, later) in zip(self.counts, self.counts[1:], strict=False))

    def grows(self) -> bool:
        """Whether they became more over many steps, or by one whenever a few epochs began."""
        if len(self.counts) < 2 or self.shrinks():
            return False
        (first, few), (last, many) = self.counts[0], self.counts[-1]
        by_step = self.steps >= _LEAST_STEPS and many >= _LEAST_LIVE
        by_epoch = self.steps >= _LEAST_EPOCHS and many == self.registered
        return (by_step or by_epoch) and many > few and last > first


class HookCounts(Probe):
    """Wraps the methods that register hooks on modules; what libraries register is theirs."""

    name = "hook-counts"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._piles: dict[tuple[int, Any, int, str], _Pile] = {}
        for method in _METHODS:
            self._watch(method)

    def remove(self) -> None:
        self._patches.restore()

    def _watch(self, method: str) -> None:
        original = getattr(nn.Module, method)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def register(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                handle = original(module, *args, **kwargs)
            frame = sys._getframe(1)
            if self.recorder.is_ours and is_user_file(frame.f_code.co_filename):
                note(module, method, handle, frame)
            return handle

        self._patches.replace(nn.Module, method, register)

    def _note(self, module: nn.Module, method: str, handle: Any, frame: FrameType) -> None:
        key = (id(module), frame.f_code, frame.f_lasti, method)
        pile = self._piles.get(key)
        # The number of an object that is gone may be given to another one.
        if pile is None or pile.module() is not module:
            if pile is None and len(self._piles) >= _MOST_PILES:
                return
            pile = self._piles[key] = _Pile(weakref.ref(module), handle.hooks_dict_ref, type(module).__name__)
        pile.ids.append(handle.id)
        pile.registered += 1
        is_new_step = self.recorder.step != pile.last_step
        if is_new_step:
            pile.last_step = self.recorder.step
            pile.steps += 1
        if len(pile.ids) >= pile.next_count or (is_new_step and 1 < pile.steps <= _MOST_EPOCHS):
            if not pile.counts:
                # Later on the module may be gone.
                pile.name = self._named(module)
            pile.count(self.recorder.step)

    def on_finish(self) -> None:
        held = {id(pile): _bytes_held(pile) for pile in self._piles.values() if pile.counts}
        lines: dict[tuple[Any, int, str], list[_Pile]] = {}
        for (_, code, instruction, method), pile in self._piles.items():
            if pile.counts:
                pile.count(self.recorder.step)
            if pile.grows():
                lines.setdefault((code, instruction, method), []).append(pile)
        for (code, instruction, method), piles in lines.items():
            highest = max(piles, key=lambda pile: pile.counts[-1][1])
            (before_step, before), (step, live) = highest.counts[0], highest.counts[-1]
            self.recorder.observe(
                PilingHooks(
                    step=step,
                    where=location_in(code, instruction),
                    method=method,
                    module=highest.name,
                    live=live,
                    before=before,
                    before_step=before_step,
                    modules=len(piles),
                    total=sum(pile.counts[-1][1] for pile in piles),
                    bytes=sum(held[id(pile)] for pile in piles),
                )
            )

    def _named(self, module: nn.Module) -> str:
        """The path of a module, with its class where the path is nothing but a number."""
        paths = (name for root in self._modules.roots() for name, part in root.named_modules() if part is module)
        path = next(paths, "")
        kind = type(module).__name__
        return f"{path}: {kind}" if path.replace(".", "").isdigit() else path or kind


def _bytes_held(pile: _Pile) -> int:
    """What the tensors take that live hooks hold: in the object whose method a hook is, or in names around it."""
    hooks = pile.hooks() or {}
    return own_bytes([tensor for each in pile.ids if each in hooks for tensor in _tensors(_holdings(hooks[each]))])


def _holdings(hook: Any) -> list[Any]:
    function = getattr(hook, "__func__", hook)
    owner = getattr(hook, "__self__", hook)
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if cell != CellType()]
    return [*cells, *(list(vars_of(owner).values()) if not isinstance(owner, nn.Module) else ())]


def _tensors(things: list[Any]) -> list[torch.Tensor]:
    below = [[item for _, item in pairs_in(thing)] if isinstance(thing, dict) else thing for thing in things]
    flat = [item for each in below for item in (each if isinstance(each, _CONTAINERS) else (each,))]
    return [item for item in flat if isinstance(item, torch.Tensor)]
