"""Knows every module the script built, where it was born, and which ones are called outermost."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any

from torch import nn
from torch.nn.modules import module as torch_module

from torchmedic.facts import Location
from torchmedic.probes.frames import user_location
from torchmedic.probes.patching import Patches
from torchmedic.record import Probe, Recorder


class Modules(Probe):
    """Keeps a weak list of modules. The hook on calls is only there while someone needs `on_forward`."""

    name = "modules"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._born: weakref.WeakKeyDictionary[nn.Module, Location | None] = weakref.WeakKeyDictionary()
        self._depth = 0
        self._handles: list[Any] = []
        original = nn.Module.__init__

        @functools.wraps(original)
        def init(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            if recorder.is_ours:
                self._born[module] = user_location()

        self._patches.replace(nn.Module, "__init__", init)

    def remove(self) -> None:
        self.stop_listening()
        self._patches.restore()

    def born_at(self, module: nn.Module) -> Location | None:
        """The user's line that built a module."""
        return self._born.get(module)

    def alive(self) -> Iterator[nn.Module]:
        return iter(list(self._born))

    def roots(self) -> list[nn.Module]:
        """Modules that are no part of another one."""
        alive = list(self._born)
        inner = {id(child) for module in alive for child in module.children()}
        return [module for module in alive if id(module) not in inner]

    def listen(self) -> None:
        """Start sending `on_forward` for outermost calls; costs a little on every module call."""
        if not self._handles:
            self._depth = 0
            self._handles = [
                torch_module.register_module_forward_pre_hook(self._enter),
                torch_module.register_module_forward_hook(self._leave, always_call=True),
            ]

    def stop_listening(self) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _enter(self, module: nn.Module, _args: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self.recorder.emit("on_forward", module)

    def _leave(self, _module: nn.Module, _args: Any, _result: Any) -> None:
        self._depth = max(0, self._depth - 1)
