"""What a process died of that the script started: the script itself only learns that a connection is broken."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import time
import traceback
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from torchmedic.facts import ChildCrash, Crash, from_plain, to_plain
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.events.patching import Patches, hide_frame
from torchmedic.record import Probe, Recorder

_PATIENCE = 0.5
_POLL = 0.02
_LOST = (ConnectionError, EOFError, queue.Empty)
_HERE = f"{os.sep}multiprocessing{os.sep}"


class ChildCrashes(Probe):
    """Has every process of `multiprocessing` note what it died of, in a file; reads it when the script dies of that."""

    name = "child-crashes"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = BaseProcess._bootstrap  # type: ignore[attr-defined]

        @functools.wraps(original)
        def bootstrap(process: Any, *args: Any, **kwargs: Any) -> Any:
            process.run = functools.partial(self._run, process.run)
            return original(process, *args, **kwargs)

        self._patches.replace(BaseProcess, "_bootstrap", bootstrap)

    def remove(self) -> None:
        self._patches.restore()
        if self.recorder.is_ours:
            for path in self._written():
                path.unlink(missing_ok=True)

    def _run(self, run: Callable[[], None]) -> None:
        """In the child, where the recorder writes nothing."""
        try:
            run()
        except Exception as error:
            hide_frame(error)
            with contextlib.suppress(Exception):
                self._note_of(os.getpid()).write_text(json.dumps([time.time(), to_plain(crash_of(error))]))
            raise

    def _note_of(self, pid: int | str) -> Path:
        return self.recorder.folder / f"child-{pid}.json"

    def on_crash(self, error: BaseException) -> None:
        if not _is_of_a_connection(error):
            return
        notes = self._notes()
        ends = time.monotonic() + _PATIENCE  # a connection breaks a moment before what broke it is noted
        while not notes and time.monotonic() < ends:
            time.sleep(_POLL)
            notes = self._notes()
        if notes:
            _, first = min(notes, key=lambda note: note[0])
            crash = from_plain(Crash, first)
            self.recorder.observe(ChildCrash(step=self.recorder.step, crash=crash, count=len(notes)))

    def _written(self) -> list[Path]:
        return list(self.recorder.folder.glob(self._note_of("*").name))

    def _notes(self) -> list[tuple[float, Any]]:
        found = []
        for path in self._written():
            with contextlib.suppress(ValueError):  # still being written
                found.append(tuple(json.loads(path.read_text())))
        return found


def _is_of_a_connection(error: BaseException) -> bool:
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return isinstance(error, _LOST) and any(_HERE in file for file in files)
