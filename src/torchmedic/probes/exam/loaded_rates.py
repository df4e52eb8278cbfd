"""The exam of loaded states: a learning rate that was chosen anew and replaced by the one in the file."""

from __future__ import annotations

import functools
from typing import Any, TypeGuard

import torch
from torch.optim import lr_scheduler

from torchmedic.facts import Location, RateFromFile
from torchmedic.journal import Page, Update
from torchmedic.late import late_dataclass
from torchmedic.probes.course.pulse import default_rate
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_MUCH = 10.0
_SAME = 0.01
_LEAST_STEPS = 10


@late_dataclass()
class _Loaded:
    """An optimizer that got the rate of a file, and how it went on."""

    name: str
    built: Location | None
    loaded: Location | None
    given: float
    first_rate: float
    rate: float
    step: int
    steps: int = 0
    highest: float = 0.0


class LoadedRateExam(Probe):
    """Wraps the `load_state_dict` of optimizers and schedulers, and follows the rate from there on."""

    name = "loaded-rate-exam"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._loaded: dict[int, _Loaded] = {}
        self._done: list[_Loaded] = []
        self._is_resumed = False
        original = torch.optim.Optimizer.load_state_dict
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def load_state_dict(optimizer: Any, state_dict: Any) -> Any:
            before = [group.get("lr") for group in optimizer.param_groups]
            with frame_hidden:
                result = original(optimizer, state_dict)
            if recorder.is_ours:
                note(optimizer, before)
            return result

        self._patches.replace(torch.optim.Optimizer, "load_state_dict", load_state_dict)
        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and hasattr(kind, "get_last_lr") and "load_state_dict" in vars(kind):
                self._watch_scheduler(kind)

    def _watch_scheduler(self, kind: Any) -> None:
        original = kind.load_state_dict

        @functools.wraps(original)
        def load_state_dict(*args: Any, **kwargs: Any) -> Any:
            # A training that goes on with its schedule is to go on with its rate.
            self._is_resumed = True
            with frame_hidden:
                return original(*args, **kwargs)

        self._patches.replace(kind, "load_state_dict", load_state_dict)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, optimizer: Any, before: list[Any]) -> None:
        group = optimizer.param_groups[0]
        rates = [float(one) for one in (*before[:1], group.get("initial_lr"), group.get("lr")) if _is_rate(one)]
        if len(rates) < 3:
            return
        given, first, rate = rates
        is_chosen = given != default_rate(optimizer) and not self._optimizers.steps_of(optimizer)
        is_new = abs(given - first) > _SAME * first and abs(given - rate) > _SAME * rate
        if is_chosen and is_new and rate * _MUCH <= min(given, first):
            built = self._optimizers.built_at(optimizer)
            name = type(optimizer).__name__
            self._loaded[id(optimizer)] = _Loaded(name, built, user_location(), given, first, rate, self.recorder.step)

    def on_optimizer(self, optimizer: Any) -> None:
        known = self._loaded.pop(id(optimizer), None)
        self._done += [known] if known is not None else []

    def on_page(self, lines: Page) -> None:
        for line in lines if self._loaded else ():
            if isinstance(line, Update) and line.optimizer in self._loaded:
                seen = self._loaded[line.optimizer]
                seen.steps += 1
                seen.highest = max(seen.highest, line.highest_rate or 0.0)

    def on_finish(self) -> None:
        for seen in (*self._done, *self._loaded.values()):
            stayed = seen.steps >= _LEAST_STEPS and 0 < seen.highest * _MUCH <= seen.given
            if stayed and not self._is_resumed:
                self.recorder.observe(
                    RateFromFile(
                        step=seen.step,
                        optimizer=seen.name,
                        built=seen.built,
                        loaded=seen.loaded,
                        given=seen.given,
                        first_rate=seen.first_rate,
                        rate=seen.rate,
                        highest=seen.highest,
                        steps=seen.steps,
                    )
                )


def _is_rate(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and value > 0
