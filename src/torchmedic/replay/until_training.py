"""What second, silent runs have in common that follow the user's calls until a training begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from torchmedic.probes.source.frames import outward
from torchmedic.record import Probe

Trace = Callable[[FrameType, str, Any], Any]


class UntilTraining(Probe):
    """Ends the run at the first step: what is looked for lies before it."""

    def follow(self, call: Trace) -> None:
        """Trace the calls that begin from now on."""
        sys.settrace(call)

    def follow_running(self, line: Trace | None, is_wanted: Callable[[FrameType], bool]) -> None:
        """Trace calls that began earlier as well: a script is one itself."""
        for frame in outward(sys._getframe(1)):
            if is_wanted(frame):
                frame.f_trace = line

    def remove(self) -> None:
        sys.settrace(None)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.flush()
        os._exit(0)
