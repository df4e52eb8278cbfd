"""Where the processes of a run keep their files, and who of them speaks last."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from torchmedic.facts import RunInfo
from torchmedic.redaction import redact_argv
from torchmedic.store import create

_FINISHED = "finished"


def rank_folder(shared: Path, rank: int) -> Path:
    """A fresh folder for one rank: `rank3`, and `rank3-1` when the launcher starts it again."""
    for attempt in range(1000):
        folder = shared / (f"rank{rank}" if not attempt else f"rank{rank}-{attempt}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(f"{shared}: too many folders of rank {rank}")


def life_of(folder: str) -> int:
    """How often a rank had been started before.

    >>> life_of(".torchmedic/run/rank3"), life_of(".torchmedic/run/rank3-1")
    (0, 1)
    """
    again = re.fullmatch(r"rank\d+-(\d+)", os.path.basename(folder))
    return int(again.group(1)) if again else 0


def last_folder(shared: Path, rank: int) -> Path:
    """The folder of a rank in its last life."""
    lives = [shared / f"rank{rank}", *shared.glob(f"rank{rank}-*")]
    return max(lives, key=lambda folder: life_of(str(folder)))


def free_number(shared: Path, number: int) -> int:
    """A number that no process of this run has yet: those that train apart are not one process started again."""
    while (shared / f"rank{number}").exists():
        number += 1
    return number


def run_file_of(rank: int) -> str:
    return f"rank{rank}.db"


def new_rank(shared: Path, rank: int, *, world: int = 1, argv: Sequence[str] = ()) -> Path:
    """Make a rank's folder with an empty run file in it; the folder is returned."""
    folder = rank_folder(shared, rank)
    info = RunInfo(
        argv=redact_argv(argv or sys.argv),
        cwd=os.getcwd(),
        python=platform.python_version(),
        started=time.time(),
        rank=rank,
        world=world,
        host=socket.gethostname(),
    )
    create(folder / run_file_of(rank), info)
    return folder


def is_last(shared: Path, rank: int, others: int) -> bool:
    """Whether this rank is the last of its machine to finish, so that the report is its to give.

    Each leaves a file in turn; the lock makes sure that exactly one finds all of them.
    """
    import fcntl

    with (shared / _FINISHED).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"{rank}\n")
        file.flush()
        file.seek(0)
        finished = {int(line) for line in file.read().split()}
    return len(finished) >= others
