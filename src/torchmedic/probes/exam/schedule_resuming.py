"""The exam of a resumed schedule: an optimizer that goes on where it was, and a scheduler that begins anew."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

import torch
from torch.optim import lr_scheduler

from torchmedic.facts import Location, ScheduleBegunAnew
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.exam.schedules import SETTINGS, ScheduleExam
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_SAME_RATE = 1e-6


@late_dataclass()
class _Resumed:
    """An optimizer that was given its state, and what the first step after that showed."""

    optimizer: weakref.ref[Any]
    loaded: Location | None
    rate: float
    first_rate: float
    step: int
    found: ScheduleBegunAnew | None = None


class ScheduleResumeExam(Probe):
    """Wraps `torch.load`, `torch.save` and the `load_state_dict` of optimizers and schedulers; looks at one step."""

    name = "schedule-resume-exam"

    def __init__(self, schedules: ScheduleExam) -> None:
        self._schedules = schedules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._read: Location | None = None
        self._saved: Location | None = None
        self._kept: dict[str, dict[str, Any]] = {}
        self._resumed: _Resumed | None = None
        tell_after(self, self._patches, torch, "load", lambda result, _args: self._note_file(result))
        tell_after(
            self, self._patches, torch, "save", lambda _result, args: self._note_saved(args[0] if args else None)
        )
        tell_after(
            self,
            self._patches,
            torch.optim.Optimizer,
            "load_state_dict",
            lambda _result, args: self._note_optimizer(*args[:2]),
        )
        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and hasattr(kind, "get_last_lr") and "load_state_dict" in vars(kind):
                tell_after(self, self._patches, kind, "load_state_dict", lambda _result, _args: self._forget())

    def remove(self) -> None:
        self._patches.restore()

    def _note_saved(self, content: Any) -> None:
        if isinstance(content, dict) and any(_is_optimizer(part) for part in content.values()):
            self._saved = user_location()

    def _note_file(self, content: Any) -> None:
        if isinstance(content, dict):
            self._read = user_location()
            self._kept = {str(key): _plain(part) for key, part in content.items() if _is_scheduler(part)}

    def _note_optimizer(self, optimizer: Any, state: Any = None) -> None:
        group = state["param_groups"][0] if _is_optimizer(state) else {}
        rates = group.get("lr"), group.get("initial_lr")
        if self._read is None or not all(isinstance(rate, (int, float)) for rate in rates):
            return
        self._resumed = _Resumed(
            weakref.ref(optimizer), user_location(), float(group["lr"]), float(group["initial_lr"]), self.recorder.step
        )
        self.recorder.wake(self)

    def _forget(self) -> None:
        self._resumed = None
        self._kept.clear()
        self._read = None

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        resumed = self._resumed
        if resumed is not None and resumed.found is None and resumed.optimizer() is optimizer:
            for scheduler, built in self._schedules.of(optimizer):
                if getattr(scheduler, "last_epoch", None) == 0:
                    resumed.found = self._compare(resumed, scheduler, built)
                    break
        self.recorder.rest(self)

    def _compare(self, resumed: _Resumed, scheduler: Any, built: Location | None) -> ScheduleBegunAnew | None:
        key = next((key for key, state in self._kept.items() if _are_alike(state, scheduler)), "")
        rate = scheduler.optimizer.param_groups[0]["lr"]
        base = (getattr(scheduler, "base_lrs", None) or [resumed.first_rate])[0]
        under_way = not _is_same(resumed.rate, resumed.first_rate) and _is_same(float(base), resumed.first_rate)
        saved_at = self._kept[key].get("last_epoch") if key else None
        if not (saved_at if key else under_way and not self._kept):
            return None
        return ScheduleBegunAnew(
            scheduler=type(scheduler).__name__,
            built=built,
            key=key,
            saved_at=saved_at,
            saved_rate=resumed.rate,
            first_rate=resumed.first_rate,
            rate=float(rate),
            read=self._read,
            saved=self._saved,
            optimizer_loaded=resumed.loaded,
            steps=0,
            step=self.recorder.step,
        )

    def on_finish(self) -> None:
        resumed = self._resumed
        if resumed is not None and resumed.found is not None:
            self.recorder.observe(replace(resumed.found, steps=self.recorder.step - resumed.step))


def _is_optimizer(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("param_groups"), list) and bool(part.get("param_groups"))


def _is_scheduler(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("last_epoch"), int)


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name in SETTINGS or name == "last_epoch"}


def _are_alike(state: dict[str, Any], scheduler: Any) -> bool:
    """Whether a saved state is that of such a scheduler: the same settings with the same values."""
    mine = _plain(vars(scheduler))
    return all(state.get(name) == value for name, value in mine.items() if name != "last_epoch")


def _is_same(first: float, second: float) -> bool:
    return abs(first - second) <= _SAME_RATE * max(abs(first), abs(second))
