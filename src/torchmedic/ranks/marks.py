"""A file in the shared folder by which one process says that it stands still, and asks the others where they are."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MARK = "standstill"
TAKEN = "standstill.taken"
STOPPED = "standstill.stopped"


def raise_mark(folder: Path) -> None:
    """Say that this process stands still; a mark that is there already stays."""
    with contextlib.suppress(OSError), (folder / MARK).open("x") as file:
        file.write(str(os.getpid()))


def mark_time(folder: Path) -> float | None:
    """When the mark was raised; None where there is none."""
    try:
        return os.stat(folder / MARK).st_mtime
    except OSError:
        return None


def take_mark(folder: Path) -> bool:
    """Be the one process that answers a mark."""
    try:
        (folder / TAKEN).open("x").close()
    except OSError:
        return False
    return True


def clear_mark(folder: Path) -> None:
    """The standstill was none: somebody moves. It may be marked again."""
    for name in (MARK, TAKEN):
        with contextlib.suppress(OSError):
            (folder / name).unlink()


def note_stop(folder: Path) -> None:
    """Say that we end the run ourselves, by a kill where it does not hear: nobody else is to be blamed for it."""
    with contextlib.suppress(OSError):
        (folder / STOPPED).touch()


def was_stopped(folder: Path) -> bool:
    return (folder / STOPPED).exists()
