"""A second, silent run that looks at what some lines add and subtract, before they do."""

from __future__ import annotations

from types import FrameType

from torchmedic.probes.data.wraparound import Finder
from torchmedic.record import Recorder
from torchmedic.replay.until_training import AtLines


class Narrow(AtLines):
    """Looks at the arithmetic of the lines that the settings name."""

    name = "narrow"

    def install(self, recorder: Recorder) -> None:
        self._finder = Finder(recorder)
        super().install(recorder)

    def look_at(self, frame: FrameType) -> None:
        self._finder.look_at_line(frame)
