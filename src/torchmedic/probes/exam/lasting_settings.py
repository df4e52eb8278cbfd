"""The exam of settings that an evaluation changed: does the training go on with them."""

from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from torchmedic.facts import SettingNotRestored
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.exam.overwritten_settings import Overwriting, overwritings
from torchmedic.record import Probe, Recorder

_MOST_WATCHED = 2_000
_STEPS_AFTER_A_SWITCH = 3


@late_dataclass()
class _Watched:
    """A setting of a module: its value before the first evaluation, and the first step that ran with another."""

    module: weakref.ref[nn.Module]
    kind: str
    line: Overwriting
    before: float
    after: float = 0.0
    changed_at: int | None = None

    def look(self, step: int) -> None:
        now = _value(self.module(), self.line.attribute)
        if now is None or now == self.before:
            self.changed_at = None
        elif self.changed_at is None:
            self.changed_at, self.after = step, now


class LastingSettings(Probe):
    """Reads the settings that evaluations may change before the first of them, and after each in the training steps."""

    name = "lasting-settings"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._watched: list[_Watched] | None = None
        self._look_until = 0

    def on_mode(self, module: Any, training: bool) -> None:
        if self._watched is None:
            self._begin()
        if self._watched:
            self._look_until = self.recorder.step + _STEPS_AFTER_A_SWITCH
            self.recorder.wake(self)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held:
            return
        for one in self._watched or ():
            one.look(self.recorder.step)
        if self.recorder.step > self._look_until:
            self.recorder.rest(self)

    def _begin(self) -> None:
        lines = overwritings()
        self._watched = []
        for module in self._modules.alive() if lines else ():
            kinds = {kind.__name__ for kind in type(module).__mro__}
            for line in lines:
                value = _value(module, line.attribute) if not line.owner or line.owner in kinds else None
                if value and len(self._watched) < _MOST_WATCHED:
                    self._watched.append(_Watched(weakref.ref(module), type(module).__name__, line, value))

    def on_finish(self) -> None:
        changed: dict[Overwriting, list[_Watched]] = {}
        for one in self._watched or ():
            if one.changed_at is not None:
                changed.setdefault(one.line, []).append(one)
        for line, alike in changed.items():
            first = alike[0]
            self.recorder.observe(
                SettingNotRestored(
                    step=first.changed_at,
                    module=first.kind,
                    attribute=line.attribute,
                    before=first.before,
                    after=first.after,
                    where=line.where,
                    text=line.text,
                    modules=len(alike),
                    steps=self.recorder.step - (first.changed_at or 0),
                )
            )


def _value(module: nn.Module | None, attribute: str) -> float | None:
    """A number or a switch that hangs on a module as a plain attribute."""
    value = vars(module).get(attribute) if module is not None else None
    return float(value) if isinstance(value, (bool, int, float)) else None
