"""The exam of a resumed mixed-precision training: a scaler's state that was read from a file and left there."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.amp import grad_scaler as torch_scaler

from torchmedic.facts import Location, ScalerLeftInFile
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_MOST_FILES = 8
_STATE = frozenset(("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"))


@late_dataclass()
class _File:
    key: str
    scale: float
    read: Location | None
    optimizer_loaded: bool = False
    loaded: Location | None = None
    scaler_loaded: bool = False
    first_scale: float | None = None
    stepped: Location | None = None
    steps: int = 0


class ScalerExam(Probe):
    """Wraps `torch.load`, the `load_state_dict` of optimizers and scalers, and `GradScaler.step`."""

    name = "scaler-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._files: list[_File] = []
        self._own: weakref.WeakSet[Any] = weakref.WeakSet()
        scaler = torch_scaler.GradScaler
        tell_after(self, self._patches, torch, "load", lambda result, _args: self._note_file(result))
        tell_after(
            self, self._patches, torch.optim.Optimizer, "load_state_dict", lambda _result, _args: self._note_optimizer()
        )
        tell_after(self, self._patches, scaler, "load_state_dict", lambda _result, _args: self._note_scaler())
        tell_after(self, self._patches, scaler, "step", lambda _result, args: self._note_step(args[0]))

    def remove(self) -> None:
        self._patches.restore()

    def _note_file(self, content: Any) -> None:
        parts = content.items() if isinstance(content, dict) and len(self._files) < _MOST_FILES else ()
        for key, part in parts:
            if isinstance(part, dict) and set(part) >= _STATE:
                self._files.append(_File(str(key), float(part["scale"]), user_location()))

    def _note_optimizer(self) -> None:
        for file in self._files:
            file.optimizer_loaded, file.loaded = True, user_location()

    def _note_scaler(self) -> None:
        for file in self._files:
            file.scaler_loaded = True

    def _note_step(self, scaler: Any) -> None:
        if not self._files:
            # A scaler that was in use before the file was read goes on with what it has.
            self._own.add(scaler)
            return
        if not scaler._enabled or scaler in self._own:
            return
        for file in self._files:
            if file.steps == 0:
                file.first_scale, file.stepped = float(scaler._init_scale), user_location()
            file.steps += 1

    def on_finish(self) -> None:
        for file in self._files:
            if file.steps and not file.scaler_loaded:
                self.recorder.observe(
                    ScalerLeftInFile(
                        key=file.key,
                        scale=file.scale,
                        first_scale=file.first_scale or 0.0,
                        read=file.read,
                        stepped=file.stepped,
                        steps=file.steps,
                        optimizer_loaded=file.optimizer_loaded,
                        loaded=file.loaded,
                    )
                )
