"""The exam of classes: a method that was meant to override `forward` and is misspelt, below a layer that has one."""

from __future__ import annotations

import difflib
from typing import Any

from torch import nn

from torchmedic.facts import UnheardOverride
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe, Recorder

_ALIKE = 0.85
_MOST_CLASSES = 200


class OverrideExam(Probe):
    """Looks once, at the first step, at the classes of the script's own modules."""

    name = "override-exam"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._looked = False

    def on_step_done(self, optimizer: Any) -> None:
        if not self._looked:
            self._looked = True
            for kind in list({type(module) for module in self._modules.alive()})[:_MOST_CLASSES]:
                self._look(kind)
        self.recorder.rest(self)

    def _look(self, kind: type) -> None:
        for owner in kind.__mro__:
            if owner is nn.Module or "forward" in vars(owner):
                return
            for name, method in vars(owner).items():
                code = getattr(method, "__code__", None)
                if code is not None and is_user_file(code.co_filename) and is_misspelt(name):
                    where = location(code.co_filename, code.co_firstlineno, code.co_qualname)
                    base = _who_forwards(owner)
                    self.recorder.observe(UnheardOverride(owner=owner.__name__, method=name, base=base, where=where))


def is_misspelt(name: str) -> bool:
    """Whether a name is `forward` but for a letter or two.

    >>> is_misspelt("foward"), is_misspelt("Forward"), is_misspelt("forward_features"), is_misspelt("forward")
    (True, True, False, False)
    """
    return name != "forward" and difflib.SequenceMatcher(None, name.lower(), "forward").ratio() >= _ALIKE


def _who_forwards(kind: type) -> str:
    return next((c.__name__ for c in kind.__mro__ if "forward" in vars(c)), "")
