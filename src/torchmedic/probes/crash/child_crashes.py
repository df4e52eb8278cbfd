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
from multiprocessing import spawn
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from torchmedic.facts import ChildCrash, Crash, from_plain, to_plain
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.events.patching import Patches, hide_frame
from torchmedic.record import Probe, Recorder

_NOTES = "child-*.json"
_MOST_NOTES = 20
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
        noting = _noting(BaseProcess._bootstrap, lambda: self.recorder.folder)  # type: ignore[attr-defined]
        self._patches.replace(BaseProcess, "_bootstrap", noting)

    def remove(self) -> None:
        self._patches.restore()
        if self.recorder.is_ours:
            for path in self._written():
                path.unlink(missing_ok=True)

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
        return list(self.recorder.folder.glob(_NOTES))

    def _notes(self) -> list[tuple[float, Any]]:
        found = []
        for path in self._written():
            with contextlib.suppress(ValueError):  # still being written
                found.append(tuple(json.loads(path.read_text())))
        return found


def note_ends(folder: Path) -> None:
    """In a process without a recorder, which is started anew: the same, also of what keeps it from beginning."""
    BaseProcess._bootstrap = _noting(BaseProcess._bootstrap, lambda: folder)  # type: ignore[attr-defined]
    original = spawn._main

    @functools.wraps(original)
    def main(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except Exception as error:
            hide_frame(error)
            _note(error, folder)
            raise

    spawn._main = main


def _noting(original: Callable[..., Any], folder: Callable[[], Path]) -> Callable[..., Any]:
    @functools.wraps(original)
    def bootstrap(process: Any, *args: Any, **kwargs: Any) -> Any:
        process.run = functools.partial(_run, process.run, folder)
        return original(process, *args, **kwargs)

    return bootstrap


def _run(run: Callable[[], None], folder: Callable[[], Path]) -> None:
    """In the child, where no recorder writes."""
    try:
        run()
    except Exception as error:
        hide_frame(error)
        _note(error, folder())
        raise


def _note(error: Exception, folder: Path) -> None:
    """Some are enough: a pool starts processes that cannot begin again and again."""
    with contextlib.suppress(Exception):
        if len(list(folder.glob(_NOTES))) < _MOST_NOTES:
            note = json.dumps([time.time(), to_plain(crash_of(error))])
            (folder / _NOTES.replace("*", str(os.getpid()))).write_text(note)


def _is_of_a_connection(error: BaseException) -> bool:
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return isinstance(error, _LOST) and any(_HERE in file for file in files)
