"""Writes down, once a second, which line of the user's the main thread is on: all that is left after a SIGKILL."""

from __future__ import annotations

import _thread
import sys
import threading
from pathlib import Path

from torchmedic.facts import Location
from torchmedic.probes.frames import location, location_of, user_frame
from torchmedic.record import Probe, Recorder

FILE = "whereabouts"
SECONDS = 1.0


class Whereabouts(Probe):
    """A thread that looks at the main thread's frame and overwrites one short file."""

    name = "whereabouts"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._over = threading.Event()
        self._file = (recorder.folder / FILE).open("wb", buffering=0)
        self._main = threading.main_thread().ident
        # Not a `threading.Thread`: the script may count and list its threads, and this one is none of them.
        _thread.start_new_thread(self._watch, ())

    def remove(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        before: tuple[str, int] | None = None
        while not self._over.wait(SECONDS):
            frame = user_frame(sys._current_frames().get(self._main or 0))
            if frame is None or (frame.f_code.co_filename, frame.f_lineno) == before:
                continue
            before = (frame.f_code.co_filename, frame.f_lineno)
            self._file.seek(0)
            self._file.truncate()
            self._file.write(f"{frame.f_code.co_filename}\n{frame.f_lineno}\n{location_of(frame).function}".encode())


def last_seen(folder: Path) -> Location | None:
    """The line that was written down last in a run's folder."""
    try:
        file, line, function = (folder / FILE).read_text().split("\n")
        return location(file, int(line), function)
    except (OSError, ValueError):
        return None


def last_alive(folder: Path) -> float | None:
    """When the process last said where it is."""
    try:
        return (folder / FILE).stat().st_mtime
    except OSError:
        return None
