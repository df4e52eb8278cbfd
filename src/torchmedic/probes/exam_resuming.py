"""The exam of a resumed training: an optimizer's state that was read from a file and never given to an optimizer."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, StateLeftInFile
from torchmedic.late import late_dataclass
from torchmedic.probes.frames import user_location
from torchmedic.probes.optimizers import Optimizers
from torchmedic.probes.patching import Patches, frame_hidden
from torchmedic.record import Probe, Recorder, shielded

_MOST_FILES = 8


@late_dataclass()
class _File:
    """What a file held of an optimizer: the settings of its groups, and whether anyone took it."""

    key: str
    entries: int
    settings: tuple[Any, ...]
    read: Location | None
    step: int
    made: dict[int, int]
    model_loaded: bool = False
    given: bool = False


class ResumeExam(Probe):
    """Wraps `torch.load` and the `load_state_dict` of optimizers and modules; costs nothing in a step."""

    name = "resume-exam"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._files: list[_File] = []
        self._listen(torch, "load", lambda result, _args: self._note_file(result))
        self._listen(torch.optim.Optimizer, "load_state_dict", lambda _result, _args: self._note_given())
        self._listen(nn.Module, "load_state_dict", lambda _result, _args: self._note_model())

    def remove(self) -> None:
        self._patches.restore()

    def _listen(self, owner: Any, name: str, told: Any) -> None:
        original = getattr(owner, name)
        note = shielded(self)(told)

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            if self.recorder.is_ours:
                note(result, args)
            return result

        self._patches.replace(owner, name, wrapped)

    def _note_file(self, content: Any) -> None:
        if not isinstance(content, dict) or len(self._files) >= _MOST_FILES:
            return
        for key, part in content.items():
            if isinstance(part, dict) and part.get("state") and isinstance(part.get("param_groups"), list):
                settings = _settings(part["param_groups"])
                made = {id(o): self._optimizers.steps_of(o) for o in self._optimizers.alive()}
                self._files.append(
                    _File(str(key), len(part["state"]), settings, user_location(), self.recorder.step, made)
                )

    def _note_given(self) -> None:
        for file in self._files:
            file.given = True

    def _note_model(self) -> None:
        for file in self._files:
            file.model_loaded = True

    def on_finish(self) -> None:
        for file in self._files:
            optimizer = self._busiest_since(file)
            if file.given or optimizer is None:
                continue
            self.recorder.observe(
                StateLeftInFile(
                    key=file.key,
                    entries=file.entries,
                    read=file.read,
                    optimizer=type(optimizer).__name__,
                    built=self._optimizers.built_at(optimizer),
                    fits=_settings(optimizer.param_groups) == file.settings,
                    steps=min(self.recorder.step - file.step, self._optimizers.steps_of(optimizer)),
                    model_loaded=file.model_loaded,
                )
            )

    def _busiest_since(self, file: _File) -> Any:
        """The optimizer that goes on with the training; one from before may still be alive."""
        steps = self._optimizers.steps_of
        return max(self._optimizers.alive(), key=lambda o: steps(o) - file.made.get(id(o), 0), default=None)


def _settings(groups: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Number of parameters, names of the settings, and the rate that each group began with."""
    return tuple(
        (len(g["params"]), tuple(sorted(k for k in g if k not in ("params", "initial_lr"))), _rate(g)) for g in groups
    )


def _rate(group: dict[str, Any]) -> float:
    return float(group.get("initial_lr", group.get("lr", 0.0)))
