"""Notices `module.requires_grad = …`: a plain attribute that freezes and frees nothing."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchmedic.facts import FlagOnModule
from torchmedic.probes.frames import user_location
from torchmedic.record import Probe, Recorder

_MOST_FACTS = 20
_NAME = "requires_grad"


class FlagExam(Probe):
    """Puts a descriptor where modules have nothing: it costs nothing until somebody sets that attribute."""

    name = "flag-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._facts = 0
        if not hasattr(nn.Module, _NAME):
            setattr(nn.Module, _NAME, _Flag(self))

    def remove(self) -> None:
        if isinstance(vars(nn.Module).get(_NAME), _Flag):
            delattr(nn.Module, _NAME)

    def note(self, module: nn.Module, value: bool) -> None:
        """Remember it where it says something else than the parameters do."""
        parameters = list(module.parameters())
        differ = sum(parameter.requires_grad != value for parameter in parameters)
        if self.recorder.is_ours and differ and self._facts < _MOST_FACTS:
            self._facts += 1
            self.recorder.observe(
                FlagOnModule(
                    step=self.recorder.step,
                    where=user_location(),
                    module=type(module).__name__,
                    value=value,
                    differ=differ,
                    parameters=len(parameters),
                )
            )


class _Flag:
    """Behaves as if it were not there, but for telling the exam of being set."""

    def __init__(self, exam: FlagExam) -> None:
        self._exam = exam

    def __get__(self, module: Any, owner: type) -> Any:
        if module is None or _NAME not in vars(module):
            raise AttributeError(_NAME)
        return vars(module)[_NAME]

    def __set__(self, module: Any, value: Any) -> None:
        vars(module)[_NAME] = value
        if isinstance(value, bool):
            try:
                self._exam.note(module, value)
            except Exception as error:  # noqa: BLE001 - the script's assignment has been made
                self._exam.recorder.switch_off(self._exam, error)

    def __delete__(self, module: Any) -> None:
        vars(module).pop(_NAME, None)
