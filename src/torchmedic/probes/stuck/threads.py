"""Notices threads that die of an exception: Python prints it, and those who wait for the thread wait on."""

from __future__ import annotations

import functools
import threading
from typing import Any

from torchmedic.facts import ThreadDied
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.expressions import innermost_user
from torchmedic.probes.source.frames import location
from torchmedic.record import Probe, Recorder, shielded


class Threads(Probe):
    """Listens at `threading.excepthook`, which says what it always said."""

    name = "threads"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = threading.excepthook
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def listening(args: Any) -> None:
            note(args)
            original(args)

        self._patches.replace(threading, "excepthook", listening)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, args: Any) -> None:
        level = innermost_user(args.exc_traceback)
        if level is None:
            return
        code = level.tb_frame.f_code
        self.recorder.observe(
            ThreadDied(
                name=getattr(args.thread, "name", "") or "thread",
                type_name=args.exc_type.__name__,
                message=str(args.exc_value).strip().split("\n")[0],
                where=location(code.co_filename, level.tb_lineno, code.co_qualname),
                step=self.recorder.step,
            )
        )
