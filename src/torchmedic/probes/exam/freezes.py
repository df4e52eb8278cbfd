"""The exam of freezes that another line takes back before the first step."""

from __future__ import annotations

import sys
import weakref
from collections import defaultdict
from types import CodeType
from typing import Any

import torch
from torch import nn

from torchmedic.facts import FreezeUndone, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.holdings import registered
from torchmedic.probes.source.frames import location_in, user_frame
from torchmedic.record import Probe, Recorder, shielded

_SHOWN = 4
_FLAG: Any = torch._C.TensorBase.requires_grad

_Site = tuple[CodeType, int]


@late_dataclass()
class _Switched:
    """A parameter that a line has frozen, and the line that has switched it on again."""

    parameter: weakref.ref[nn.Parameter]
    off: _Site
    on: _Site | None = None


class FreezeExam(Probe):
    """Listens to `requires_grad` of parameters being set, until the optimizer steps."""

    name = "freeze-exam"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._switched: dict[int, _Switched] = {}
        self._froze: dict[int, tuple[weakref.ref[nn.Parameter], _Site]] = {}
        self._switched_on: defaultdict[_Site, set[int]] = defaultdict(set)
        self._patches = Patches()
        note = shielded(self)(self._note)

        def assign(parameter: nn.Parameter, on: bool) -> None:
            with frame_hidden:
                _FLAG.__set__(parameter, on)
            note(parameter, on)

        def requires_grad_(parameter: nn.Parameter, requires_grad: bool = True) -> Any:
            with frame_hidden:
                changed = torch._C.TensorBase.requires_grad_(parameter, requires_grad)
            note(parameter, requires_grad)
            return changed

        self._patches.replace(nn.Parameter, "requires_grad", property(_FLAG.__get__, assign))
        self._patches.replace(nn.Parameter, "requires_grad_", requires_grad_)

    def remove(self) -> None:
        self._patches.restore()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._switched:
            self._look(optimizer)
        # What is switched between steps is switched on purpose.
        self._switched.clear()
        self._switched_on.clear()
        self.recorder.rest(self)

    def _note(self, parameter: nn.Parameter, on: bool) -> None:
        frame = user_frame(sys._getframe(2))
        if frame is None or not self.recorder.is_ours:
            return
        site = (frame.f_code, frame.f_lasti)
        self.recorder.wake(self)
        if not on:
            self._switched[id(parameter)] = _Switched(weakref.ref(parameter), site)
            self._froze[id(parameter)] = weakref.ref(parameter), site
            return
        self._switched_on[site].add(id(parameter))
        before = self._switched.get(id(parameter))
        if before is not None:
            before.on = site

    def frozen_at(self, parameter: torch.Tensor) -> Location | None:
        """The line that froze a parameter last."""
        reference, site = self._froze.get(id(parameter), (None, None))
        return location_in(*site) if reference is not None and site is not None and reference() is parameter else None

    def _look(self, optimizer: Any) -> None:
        """A line that froze some, all of which another line, that goes over more, has switched on again."""
        held = {id(p) for group in optimizer.param_groups for p in group["params"]}
        frozen: defaultdict[_Site, list[_Switched]] = defaultdict(list)
        for each in self._switched.values():
            if each.parameter() is not None:
                frozen[each.off].append(each)
        for off, those in frozen.items():
            on = those[0].on
            ids = {id(each.parameter()) for each in those}
            if on is None or on == off or any(each.on != on for each in those):
                continue
            if ids <= held and ids < self._switched_on[on]:
                self._tell(off, on, ids, len(self._switched_on[on]))

    def _tell(self, off: _Site, on: _Site, ids: set[int], switched_on: int) -> None:
        owners = registered(self._modules.roots())
        names = sorted(owners[each].path for each in ids if each in owners)
        self.recorder.observe(
            FreezeUndone(
                step=self.recorder.step,
                parameters=tuple(names[:_SHOWN]),
                count=len(ids),
                switched_on=switched_on,
                frozen_at=location_in(*off),
                where=location_in(*on),
            )
        )
