"""Whether the messages of a graph network run along the very edges that it is tested on."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from torchmedic.facts import Location, MessagesOverTest
from torchmedic.probes.data.edge_splits import edges_of, named_edges, share_found
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.objects.rows import is_held_out, is_trained_on
from torchmedic.probes.source.frames import is_user_file, location_of, outward
from torchmedic.probes.source.sources import variable_made_at
from torchmedic.record import Probe, Recorder, shielded

_ALL = 0.99
_FEW = 0.02
_MOST = 0.9
_LAST_STEP = 3


class MessageEdges(Probe):
    """Listens to the graph layers of the second step, and compares their edges with what the script calls its test."""

    name = "message-edges"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._hook: Any = None
        self._used: tuple[torch.Tensor, str, Location | None] | None = None

    def remove(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def on_step_done(self, optimizer: Any) -> None:
        if "torch_geometric" not in sys.modules or self.recorder.step > _LAST_STEP:
            self.remove()
            self.recorder.rest(self)
        elif self._hook is None and not self.recorder.clock_is_held:
            self._hook = register_module_forward_pre_hook(shielded(self)(self._hear))

    def _hear(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        if self._used is None and hasattr(module, "propagate") and torch.is_grad_enabled():
            edges = next((each for each in given[1:] if edges_of(each) is not None), None)
            if edges is not None:
                self._used = edges, *_origin(edges, sys._getframe(1))

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        used, self._used = self._used, None
        if self._hook is None or used is None:
            return
        self.remove()
        self.recorder.rest(self)
        parts = dict(named_edges(sys._getframe(1)))
        messages = edges_of(used[0])
        if messages is None:
            return
        both_ways = np.concatenate([messages, messages[::-1]], axis=1)
        trained = [edges for name, edges in parts.items() if is_trained_on((name,))]
        for name, edges in parts.items():
            is_apart = any(
                share_found(edges, each) <= _FEW and share_found(each, both_ways) >= _MOST for each in trained
            )
            if is_held_out((name,)) and is_apart and share_found(edges, both_ways) >= _ALL:
                self.recorder.observe(
                    MessagesOverTest(
                        step=self.recorder.step,
                        name=used[1],
                        test=name,
                        tested=edges.shape[1],
                        edges=messages.shape[1],
                        where=used[2],
                    )
                )
                return


def _origin(edges: torch.Tensor, frame: FrameType | None) -> tuple[str, Location | None]:
    """What the edges are called where they come from, and the line that makes them or hands them over."""
    name = ""
    for each in outward(frame):
        if not is_user_file(each.f_code.co_filename):
            continue
        code = each.f_code
        held = next((n for n, value in locals_of(each).items() if value is edges), None)
        if held is None:
            # A function reads what the module holds.
            known = next((n for n in code.co_names if each.f_globals.get(n) is edges), None)
            return (known, variable_made_at(known)) if known is not None else (name, location_of(each))
        name = held
        if held not in code.co_varnames[: code.co_argcount]:
            return held, variable_made_at(held)
    return name, None
