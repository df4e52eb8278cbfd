"""The exam of a resumed training: an optimizer's state that was read from a file and never given to an optimizer."""

from __future__ import annotations

import weakref
from dataclasses import field
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, StateLeftInFile
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_MOST_FILES = 8
_LISTENED = 30  # steps after a file was read: enough to know who goes on


@late_dataclass()
class _Going:
    """An optimizer that steps after a file was read; functions have let go of theirs by the end."""

    optimizer: weakref.ref[Any]
    type: str
    built: Location | None
    settings: tuple[Any, ...]
    steps: int = 0


@late_dataclass()
class _File:
    """What a file held of an optimizer: the settings of its groups, and whether anyone took it."""

    key: str
    entries: int
    settings: tuple[Any, ...]
    read: Location | None
    step: int
    loaded: Location | None = None
    model_loaded: bool = False
    given: bool = False
    going: dict[int, _Going] = field(default_factory=dict)


class ResumeExam(Probe):
    """Wraps `torch.load` and the `load_state_dict` of optimizers and modules; listens to the steps after them."""

    name = "resume-exam"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._files: list[_File] = []
        recorder.rest(self)
        tell_after(self, self._patches, torch, "load", lambda result, _args: self._note_file(result))
        tell_after(
            self, self._patches, torch.optim.Optimizer, "load_state_dict", lambda _result, _args: self._note_given()
        )
        tell_after(self, self._patches, nn.Module, "load_state_dict", lambda _result, _args: self._note_model())

    def remove(self) -> None:
        self._patches.restore()

    def _note_file(self, content: Any) -> None:
        if not isinstance(content, dict) or len(self._files) >= _MOST_FILES:
            return
        for key, part in content.items():
            if isinstance(part, dict) and part.get("state") and isinstance(part.get("param_groups"), list):
                settings = _settings(part["param_groups"])
                self._files.append(_File(str(key), len(part["state"]), settings, user_location(), self.recorder.step))
                self.recorder.wake(self)

    def _note_given(self) -> None:
        for file in self._files:
            file.given = True

    def _note_model(self) -> None:
        for file in self._files:
            # With several models in a file, the last line is where one more would stand.
            file.model_loaded, file.loaded = True, user_location() if not file.going else file.loaded

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held:
            return
        new = [file for file in self._files if self.recorder.step < file.step + _LISTENED]
        for file in new:
            if id(optimizer) not in file.going:
                file.going[id(optimizer)] = _Going(
                    weakref.ref(optimizer),
                    type(optimizer).__name__,
                    self._optimizers.built_at(optimizer),
                    _settings(optimizer.param_groups),
                )
            file.going[id(optimizer)].steps += 1
        if not new:
            self.recorder.rest(self)

    def on_finish(self) -> None:
        for file in self._files:
            if file.given or not file.going:
                continue
            going = max(file.going.values(), key=lambda each: (each.settings == file.settings, each.steps))
            since, optimizer = self.recorder.step - file.step, going.optimizer()
            self.recorder.observe(
                StateLeftInFile(
                    key=file.key,
                    entries=file.entries,
                    read=file.read,
                    optimizer=going.type,
                    built=going.built,
                    fits=going.settings == file.settings,
                    steps=since if optimizer is None else min(since, self._optimizers.steps_of(optimizer)),
                    model_loaded=file.model_loaded,
                    loaded=file.loaded,
                )
            )


def _settings(groups: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Number of parameters, names of the settings, and the rate that each group began with."""
    return tuple(
        (len(g["params"]), tuple(sorted(k for k in g if k not in ("params", "initial_lr"))), _rate(g)) for g in groups
    )


def _rate(group: dict[str, Any]) -> float:
    return float(group.get("initial_lr", group.get("lr", 0.0)))
