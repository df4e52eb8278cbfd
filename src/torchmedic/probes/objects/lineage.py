"""Where weights come from: which were loaded, trained or built with weights, and which are as they were drawn."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any

import torch
from torch import nn
from torch.nn import parameter as torch_parameter
from torch.nn.modules import module as torch_module

from torchmedic.facts import Location
from torchmedic.probes.events.modules import Birth, Modules, callers_of
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import location_of, outward, user_frame
from torchmedic.record import Probe, Recorder, shielded

_LAST_STEP = 600


class Lineage(Probe):
    """Remembers by weak reference what was ever in an optimizer or filled from a state dict."""

    name = "lineage"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._trained: dict[int, weakref.ref[torch.Tensor]] = {}
        self._loaded: dict[int, weakref.ref[nn.Module]] = {}
        self._born: dict[int, tuple[weakref.ref[torch.Tensor], Location]] = {}
        self._late: dict[int, tuple[weakref.ref[torch.Tensor], Birth]] = {}
        self.asks_for_births = True
        original = torch_parameter.Parameter.__new__
        note = shielded(self)(self._note_late_birth)

        @functools.wraps(original)
        def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                made = original(cls, *args, **kwargs)
            if recorder.is_ours and recorder.step and (self.asks_for_births or recorder.step < _LAST_STEP):
                note(made)
            return made

        self._patches.replace(torch_parameter.Parameter, "__new__", staticmethod(new))

    def remove(self) -> None:
        self._patches.restore()

    def _note_late_birth(self, made: torch.Tensor) -> None:
        """Parameters born while training runs are few: inside a forward, or by a change of the model."""
        frames = list(outward(sys._getframe(2)))
        in_forward = any(
            f.f_code.co_name == "_call_impl" and f.f_code.co_filename == torch_module.__file__ for f in frames
        )
        user = user_frame(frames[0])
        if user is None:
            return
        if in_forward:
            self._born[id(made)] = (weakref.ref(made), location_of(user))
        elif self.asks_for_births:
            birth = Birth(where=location_of(user), order=self._modules.count(), callers=callers_of(user))
            self._late[id(made)] = (weakref.ref(made), birth)
            self.recorder.emit("on_parameter", made)

    def late_birth(self, tensor: torch.Tensor) -> Birth | None:
        """Of a parameter that was made amid the training, outside of a forward."""
        kept = self._late.get(id(tensor))
        return kept[1] if kept is not None and kept[0]() is tensor else None

    def born_at(self, tensor: torch.Tensor) -> Location | None:
        kept = self._born.get(id(tensor))
        return kept[1] if kept is not None and kept[0]() is tensor else None

    def was_born_in_forward(self, tensor: torch.Tensor) -> bool:
        return self.born_at(tensor) is not None

    def note_step(self, optimizer: Any) -> None:
        """What an optimizer steps on is trained; a frozen parameter among it is not."""
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if tensor.requires_grad:
                    self._trained[id(tensor)] = weakref.ref(tensor)

    def was_trained(self, tensor: torch.Tensor) -> bool:
        kept = self._trained.get(id(tensor))
        return kept is not None and kept() is tensor

    def load(self, module: nn.Module) -> None:
        for part in module.modules():
            self._loaded[id(part)] = weakref.ref(part)

    def is_fresh(self, module: nn.Module) -> bool:
        """Built by its constructor, and neither loaded nor trained since; False where that is not known."""
        birth = self._modules.birth(module)
        trained = any(self.was_trained(p) for p in module.parameters(recurse=False))
        return birth is not None and not birth.pretrained and not self.was_loaded(module) and not trained

    def was_loaded(self, module: nn.Module) -> bool:
        kept = self._loaded.get(id(module))
        return kept is not None and kept() is module
