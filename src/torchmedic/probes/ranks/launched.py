"""What a process that started ranks learns of their end: which one failed first, with which status or signal."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import RankEnded
from torchmedic.ranks.folders import last_folder
from torchmedic.ranks.whereabouts import last_alive, last_seen
from torchmedic.record import Probe


class Launched(Probe):
    """Reads the exceptions of torchrun and of `mp.spawn`, which name the process that failed."""

    name = "launched"

    def on_crash(self, error: BaseException) -> None:
        for rank, status in ends_in(error):
            folder = last_folder(self.recorder.folder, rank)
            self.recorder.observe(
                RankEnded(
                    rank=rank,
                    status=status,
                    signal=_name(-status) if status < 0 else "",
                    at=time.time(),
                    last_seen=last_seen(folder),
                    last_alive=last_alive(folder),
                )
            )


def ends_in(error: BaseException) -> Iterator[tuple[int, int]]:
    """Rank and exit status (negative for a signal) of the processes that an exception speaks of."""
    failures = getattr(error, "failures", None)
    if isinstance(failures, dict):
        for rank, failure in failures.items():
            status: Any = getattr(failure, "exitcode", None)
            if isinstance(rank, int) and isinstance(status, int):
                yield rank, status
    index, status = getattr(error, "error_index", None), getattr(error, "exit_code", None)
    if isinstance(index, int):
        yield index, status if isinstance(status, int) else 1


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
