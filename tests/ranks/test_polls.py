"""Which loops are taken for a wait for a lock file: one with a pause that ends when a file is gone or can be made."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from torchmedic.probes.stuck.polls import polled_lock

_is_over = threading.Event()


def gone(lock: str) -> None:
    waited = 0
    while os.path.exists(lock) and waited < 40:
        time.sleep(0.05)
        waited += 1


def made(lock: str) -> None:
    for _ in range(1):
        while True:
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                if not Path(lock).is_file():
                    break
                time.sleep(0.05)


def comes(lock: str) -> None:
    """A file that somebody else is to make: it may take as long as it likes."""
    while not os.path.exists(lock + ".done") and not _is_over.is_set():
        time.sleep(0.05)


def works(lock: str) -> None:
    """Serves for as long as a file is there."""
    while os.path.exists(lock):
        serve()
        time.sleep(0.05)


def serve() -> None:
    sum(range(1000))


def _seen(target: Callable[[str], None], lock: Path) -> list[str]:
    """The lock files that a thread was seen to poll for, in several looks."""
    lock.touch()
    thread = threading.Thread(target=target, args=(str(lock),), daemon=True)
    thread.start()
    found = []
    for _ in range(5):
        time.sleep(0.06)
        poll = polled_lock(sys._current_frames().get(thread.ident or 0))
        found += [poll.path] if poll is not None else []
        del poll
    lock.unlink()
    _is_over.set()
    thread.join(timeout=10)
    return found


@pytest.mark.parametrize("target", [gone, made])
def test_a_poll_for_a_lock_file_is_seen(target: Callable[[str], None], tmp_path: Path) -> None:
    assert _seen(target, tmp_path / "a.lock").count(str(tmp_path / "a.lock")) >= 4


def test_a_file_that_is_to_come_is_no_lock(tmp_path: Path) -> None:
    assert _seen(comes, tmp_path / "a.lock") == []


def test_work_for_as_long_as_a_file_is_there_is_no_wait(tmp_path: Path) -> None:
    assert _seen(works, tmp_path / "a.lock") == []


def test_the_poll_of_a_library_is_seen(tmp_path: Path) -> None:
    filelock = pytest.importorskip("filelock")
    path = str(tmp_path / "a.lock")
    held = filelock.FileLock(path, is_singleton=False)
    with held:
        waiting = filelock.FileLock(path, is_singleton=False)
        thread = threading.Thread(target=lambda: waiting.acquire(timeout=2, poll_interval=0.02), daemon=True)
        thread.start()
        time.sleep(0.3)
        poll = polled_lock(sys._current_frames().get(thread.ident or 0))
        assert poll is not None
        assert os.path.basename(poll.path) == "a.lock"
        del poll
    thread.join(timeout=10)
    waiting.release()
