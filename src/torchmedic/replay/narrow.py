"""A second, silent run that looks at what some lines add and subtract, before they do."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from torchmedic.probes.data.wraparound import Finder
from torchmedic.probes.source.frames import shown_path
from torchmedic.record import Recorder, shielded
from torchmedic.replay.until_training import UntilTraining


class Narrow(UntilTraining):
    """Follows the functions with the lines that the settings name, until the first step of a training."""

    name = "narrow"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._lines: dict[str, set[int]] = {}
        for place in recorder.settings.trial.split(";"):
            file, _, line = place.rpartition(":")
            self._lines.setdefault(file, set()).add(int(line))
        self._names = {os.path.basename(file) for file in self._lines}
        self._finder = Finder(recorder)
        self._call, self._line = shielded(self)(self._on_call), shielded(self)(self._on_line)
        self.follow_running(self._line, self._has_line)
        self.follow(self._call)

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
            self._finder.look_at_line(frame)
        return self._line
