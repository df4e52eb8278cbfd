"""What second, silent runs have in common that follow the user's calls until a training begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from torchmedic.probes.source.frames import outward, shown_path
from torchmedic.record import Probe, Recorder, shielded

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


class AtLines(UntilTraining):
    """Looks at the lines (`file:line;…`) that the settings name, each time before it is run."""

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._lines: dict[str, set[int]] = {}
        for place in recorder.settings.trial.split(";"):
            file, _, line = place.rpartition(":")
            self._lines.setdefault(file, set()).add(int(line))
        self._names = {os.path.basename(file) for file in self._lines}
        self._call, self._line = shielded(self)(self._on_call), shielded(self)(self._on_line)
        self.follow_running(self._line, self._has_line)
        self.follow(self._call)

    def look_at(self, frame: FrameType) -> None:
        """What there is to see before the line of a frame runs."""
        raise NotImplementedError

    def _has_line(self, frame: FrameType) -> bool:
        code = frame.f_code
        # The name first: libraries make calls by the hundred thousand, and a path takes the system's time to show.
        if os.path.basename(code.co_filename) not in self._names:
            return False
        wanted = self._lines.get(shown_path(code.co_filename), set())
        return any(line in wanted for _, _, line in code.co_lines())

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if self._has_line(frame) else None

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno in self._lines[shown_path(frame.f_code.co_filename)]:
            self.look_at(frame)
        return self._line
