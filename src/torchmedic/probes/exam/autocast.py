"""The exam of autocast: are the weights cast anew after every update, or is an old copy of them computed with."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import Location, StaleCasts
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.graph_walk import graph, is_leaf_node
from torchmedic.probes.objects.holdings import registered
from torchmedic.probes.source.frames import is_user_file, location, outward, user_frame, user_location
from torchmedic.record import Probe, Recorder, shielded

_MOST_BACKWARDS = 12
_LEAST_UPDATES = 2  # two networks that train in turn may see each other's last weights once
_MOST_NAMES = 6
_CAST = "ToCopyBackward0"


class AutocastExam(Probe):
    """Follows, in the first backward passes inside autocast, which node of the graph casts which weight.

    Autocast keeps its copies until the outermost context is left. A copy that is used again brings its node along.
    """

    name = "autocast-exam"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._entered: tuple[Location | None, bool] = (None, False)
        self._stepped: tuple[str, Location | None] = ("", None)
        self._backwards = 0
        self._casts: dict[int, tuple[int, set[int]]] = {}
        original = torch.autocast.__enter__
        note = shielded(self)(self._note_entry)

        @functools.wraps(original)
        def enter(context: Any) -> Any:
            if self._backwards < _MOST_BACKWARDS and context._enabled and not torch.is_autocast_enabled(context.device):
                note(sys._getframe(1))
            with frame_hidden:
                return original(context)  # type: ignore[no-untyped-call]

        self._patches.replace(torch.autocast, "__enter__", enter)

    def remove(self) -> None:
        self._patches.restore()

    def _note_entry(self, frame: FrameType) -> None:
        for caller in outward(frame):
            if caller.f_code.co_name == "decorate_autocast":
                code = getattr(caller.f_locals.get("func"), "__code__", None)
                if code is not None and is_user_file(code.co_filename):
                    self._entered = location(code.co_filename, code.co_firstlineno, code.co_qualname), True
                    return
            if is_user_file(caller.f_code.co_filename):
                break
        self._entered = user_location(frame), False

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._backwards >= _MOST_BACKWARDS:
            self.recorder.rest(self)
            return
        self._backwards += 1
        if self.recorder.clock_is_held or not _keeps_copies():
            self._casts.clear()
            return
        casts: dict[int, tuple[int, Any]] = {}
        for node, leaf in graph(roots):
            if is_leaf_node(leaf) and node.name() == _CAST:
                casts[id(leaf.variable)] = (node._sequence_nr(), leaf.variable)
        self._compare(casts)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if _keeps_copies():
            self._stepped = type(optimizer).__name__, user_location(user_frame())

    def _compare(self, casts: dict[int, tuple[int, Any]]) -> None:
        stale: list[Any] = []
        for key, (number, weight) in casts.items():
            before, versions = self._casts.get(key, (number, set()))
            versions = {*versions, weight._version} if before == number else {weight._version}
            self._casts[key] = (number, versions)
            if len(versions) > _LEAST_UPDATES:
                stale.append(weight)
        if stale:
            self._tell(stale, max(len(self._casts[id(weight)][1]) for weight in stale) - 1)

    def _tell(self, stale: list[Any], updates: int) -> None:
        self._backwards = _MOST_BACKWARDS
        names = registered(self._modules.roots())
        known = [names[id(weight)].path for weight in stale if id(weight) in names]
        device = stale[0].device.type
        self.recorder.observe(
            StaleCasts(
                step=self.recorder.step,
                autocast=self._entered[0],
                is_decorator=self._entered[1],
                stepped=self._stepped[1],
                optimizer=self._stepped[0],
                dtype=str(torch.get_autocast_dtype(device)).removeprefix("torch."),
                updates=updates,
                parameters=tuple(known[:_MOST_NAMES]),
                count=len(stale),
            )
        )


def _keeps_copies() -> bool:
    """Whether this line runs inside an autocast context that keeps the copies of weights."""
    is_on = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
    return is_on and torch.is_autocast_cache_enabled()
