"""Notices an option of a command line that says `False` and is made `True` of, by `type=bool`."""

from __future__ import annotations

import argparse
import ast
import functools
from typing import Any

from torchmedic.facts import FalseTakenForTrue, Location
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder, shielded

_NOES = frozenset(("false", "f", "no", "n", "off", "0", "none"))


class Options(Probe):
    """Looks at each text that `argparse` turns into a value."""

    name = "options"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = argparse.ArgumentParser._get_value
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def get_value(parser: Any, action: Any, text: Any) -> Any:
            if action.type is bool:
                look(action, text)
            with frame_hidden:
                return original(parser, action, text)

        self._patches.replace(argparse.ArgumentParser, "_get_value", get_value)

    def remove(self) -> None:
        self._patches.restore()

    def _look(self, action: Any, text: Any) -> None:
        if isinstance(text, str) and text.strip().lower() in _NOES:
            option = action.option_strings[-1] if action.option_strings else action.dest
            where = _declared(option)
            if where is not None:
                step = self.recorder.step
                self.recorder.observe(
                    FalseTakenForTrue(step=step, option=option, name=action.dest, text=text, where=where)
                )


def _declared(option: str) -> Location | None:
    """The line of the user's that declares an option; a library's are its own."""
    for file, node in user_nodes():
        if not isinstance(node, ast.Call) or called_name(node) != "add_argument":
            continue
        if any(isinstance(a, ast.Constant) and a.value == option for a in node.args):
            return location(file, node.lineno)
    return None
