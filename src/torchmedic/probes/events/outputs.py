"""Listens to what layers put out, in the few steps in which someone wants to know."""

from __future__ import annotations

import time
import weakref
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from torchmedic.probes.events.modes import is_compiled
from torchmedic.record import Probe, shielded


class Outputs:
    """The size (root mean square) of what each known layer put out since `start`, kept on its device.

    The hook is there between `start` and `stop` only, and not at all once something was compiled: dynamo would have
    to compile again. Outputs without a graph are those of an evaluation and do not count.
    """

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._listen = shielded(probe)(self._note)
        self._names: dict[int, tuple[weakref.ref[torch.nn.Module], str]] = {}
        self._heard: dict[str, torch.Tensor] = {}
        self._handle: Any = None
        self.seconds = 0.0

    def know(self, module: torch.nn.Module, name: str) -> None:
        self._names[id(module)] = (weakref.ref(module), name)

    def start(self) -> None:
        if self._handle is None and self._names and not is_compiled():
            self._handle = torch_module.register_module_forward_hook(self._listen)

    def stop(self) -> dict[str, torch.Tensor]:
        """Take the hook off; returns the sizes by layer."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        heard, self._heard = self._heard, {}
        return heard

    def _note(self, module: torch.nn.Module, _args: Any, result: Any) -> None:
        if self._probe.recorder.clock_is_held:  # a step that is run again is looked at by others
            return
        known = self._names.get(id(module))
        if known is None or known[0]() is not module or type(result) is not torch.Tensor or not result.requires_grad:
            return
        began = time.perf_counter()
        if result.is_floating_point() and result.numel() and result.device.type != "meta":
            with torch.no_grad():
                norm = torch.linalg.vector_norm(result.detach().float())
                self._heard[known[1]] = norm / result.numel() ** 0.5
        self.seconds += time.perf_counter() - began
