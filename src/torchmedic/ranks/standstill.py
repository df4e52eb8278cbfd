"""Whether a run as a whole stands still: one rank that moves is enough to say no."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from torchmedic.facts import SLOW, RankSeen, Run, Standing, standing_of, starter_of

_STILL_SECONDS = 5.0
# A pause, a download or a tool that was started comes to its end by itself: all wait for it, and that may be meant.
_TIMES_PATIENT = 10


def everyone_answered(run: Run, asked: float) -> bool:
    """Whether every process that lives has said where it is since it was asked."""
    return all(_answered(standing_of(part), asked) for part in _living(run))


def _answered(standing: Standing | None, asked: float) -> bool:
    return standing is not None and (standing.patience > 0 or standing.at >= asked - 1.0)


def everyone_stands(run: Run) -> bool:
    """Whether all ranks of this machine are known, and none of them moves."""
    if len(run.ranks) < _expected(run):
        return False
    known = [s for s in map(standing_of, _living(run)) if s is not None]
    # One that started processes which train apart may wait for them, and they for it: then it has said so itself.
    starter = standing_of(starter_of(run)) if run.ranks else None
    known += [starter] if starter is not None and starter.patience > 0 else []
    shortest = min((s.patience for s in known if s.patience > 0), default=0.0)
    return bool(shortest) and all(s.still >= _long(s, shortest) or _is_endless(s) for s in known)


def _is_endless(standing: Standing) -> bool:
    """At work in one function for longer than any work that others wait for takes."""
    return 0 < standing.too_busy <= standing.busy


def _long(standing: Standing, patience: float) -> float:
    """For how long a rank has to stand where it stands, given the patience of those that wait for it."""
    if standing.waits_for == "lock-file" and standing.patience:
        return standing.patience  # as long as it may take, by its own word
    return _TIMES_PATIENT * patience if standing.waits_for in SLOW else min(_STILL_SECONDS, patience / 2)


def _expected(run: Run) -> int:
    """How many ranks have to be heard: those of this machine."""
    seen = run.first(RankSeen)
    if not run.ranks or seen is None:
        return 0
    return seen.world if seen.local_world is None else seen.local_world


def _living(run: Run) -> list[Run]:
    parts = run.ranks or (run,)
    return [part for part in parts if part.info.exit_code is None and not part.info.ended and lives(part)]


def lives(part: Run) -> bool:
    """Whether the process of a rank is there; one on another machine is believed to be."""
    if not part.info.pid or part.info.host != socket.gethostname():
        return True
    try:
        os.kill(part.info.pid, 0)
        return Path(f"/proc/{part.info.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except (OSError, IndexError):
        return True
