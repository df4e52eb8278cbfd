"""Writes down, once a second, which line of the user's the main thread is on: all that is left after a SIGKILL."""

from __future__ import annotations

import _thread
import os
import sys
import threading

from torchmedic.probes.source.frames import location_of, user_frame
from torchmedic.ranks.whereabouts import FILE, as_text
from torchmedic.record import Probe, Recorder

SECONDS = 1.0


class Whereabouts(Probe):
    """A thread that looks at the main thread's frame and overwrites one short file."""

    name = "whereabouts"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._over = threading.Event()
        # Not a file object: nobody closes it when the process is killed, and Python would tell the user so.
        self._file = os.open(recorder.folder / FILE, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        self._main = threading.main_thread().ident
        # Not a `threading.Thread`: the script may count and list its threads, and this one is none of them.
        _thread.start_new_thread(self._watch, ())

    def remove(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        before = ""
        while not self._over.wait(SECONDS):
            now = self._place()
            if now and now != before:
                before = now
                os.ftruncate(self._file, 0)
                os.pwrite(self._file, now.encode(), 0)
        os.close(self._file)

    def _place(self) -> str:
        """In a function of its own: a frame that is kept until the next look keeps all that its function has left."""
        frame = user_frame(sys._current_frames().get(self._main or 0))
        return "" if frame is None else as_text(location_of(frame))
