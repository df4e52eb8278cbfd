"""What the system knows of a process: how busy it is, how often it wakes, what it holds, who its children are."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

from torchmedic.late import late_dataclass

_CHATTER = 65536  # bytes that a process writes and reads about itself, ours among them
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@late_dataclass(frozen=True)
class Pulse:
    """Seconds of processor time, voluntary switches, bytes read and written by a thread, or by a process, so far."""

    seconds: float
    switches: int
    transferred: int = 0


def pulse(pid: int, thread: int | None = None) -> Pulse | None:
    """The pulse of a thread (or a process); None where the system does not tell."""
    base = Path(f"/proc/{pid}/task/{thread}" if thread is not None else f"/proc/{pid}")
    try:
        fields = (base / "stat").read_text().rpartition(")")[2].split()
        switches = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (base / "status").read_text(), flags=re.MULTILINE)
        seconds = (int(fields[11]) + int(fields[12])) / _TICKS
        return Pulse(seconds, int(switches.group(1)) if switches else 0, _transferred(base))
    except (OSError, ValueError, IndexError):
        return None


def _transferred(base: Path) -> int:
    """Bytes that went through `read` and `write`; not every system tells."""
    with contextlib.suppress(OSError, ValueError):
        return sum(int(line.split()[1]) for line in (base / "io").read_text().splitlines()[:2])
    return 0


def state(pid: int) -> str:
    """The system's letter for what a process does: R, S, D, Z; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def parent_of(pid: int) -> int | None:
    """Who a process belongs to: 1 when the one that started it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def children(pid: int) -> list[int]:
    """The processes a process has started."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (task / "children").read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one, nearest first."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def busy_shares(pids: list[int], seconds: float = 0.5) -> dict[int, float]:
    """The share of a core that each process uses just now."""
    before = {pid: pulse(pid) for pid in pids}
    time.sleep(seconds)
    shares = {}
    for pid, first in before.items():
        second = pulse(pid)
        if first is not None and second is not None:
            shares[pid] = (second.seconds - first.seconds) / seconds
    return shares


def any_active(pids: list[int], idle: float, seconds: float = 0.5) -> bool:
    """Whether one of some processes computes (more than an idle share of a core), reads or writes just now."""
    before = {pid: pulse(pid) for pid in pids}
    time.sleep(seconds)
    for pid, first in before.items():
        second = pulse(pid)
        if first is not None and second is not None:
            share = (second.seconds - first.seconds) / seconds
            if share >= idle or second.transferred - first.transferred > _CHATTER:
                return True
    return False


def blocked_writers(pids: list[int]) -> list[int]:
    """Those of some processes that wait in one of their threads for room in a pipe."""
    return [pid for pid in pids if any("pipe_write" in at for at in _kernel_places(pid))]


def _kernel_places(pid: int) -> list[str]:
    """Where in the kernel the threads of a process sleep; empty where the system does not tell."""
    with contextlib.suppress(OSError):
        return [(task / "wchan").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


@late_dataclass(frozen=True)
class FileLock:
    """A lock on a file that a process waits for, and who holds it."""

    path: str
    holder: int | None


def awaited_lock(pid: int) -> FileLock | None:
    """The file lock a process is blocked on, by the system's own table."""
    try:
        rows = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return None
    waiting = next((row.split() for row in rows if "->" in row and row.split()[5] == str(pid)), None)
    if waiting is None:
        return None
    number, place = waiting[0], waiting[6]
    held = next((row.split() for row in rows if row.startswith(number) and "->" not in row), None)
    holder = int(held[4]) if held is not None and held[4].isdigit() else None
    return FileLock(path=_path_of(pid, place), holder=holder)


def lock_holder(path: str) -> int | None:
    """The process that holds a lock on a file, by the system's own table."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        inode = str(os.stat(path).st_ino)
        rows = [row.split() for row in Path("/proc/locks").read_text().splitlines() if "->" not in row]
        return next((int(row[4]) for row in rows if row[5].rpartition(":")[2] == inode and row[4].isdigit()), None)
    return None


def _path_of(pid: int, place: str) -> str:
    """The open file of a process that lies at `major:minor:inode`."""
    inode = place.rpartition(":")[2]
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if str(link.stat().st_ino) == inode:
                    return os.readlink(link)
    return ""


def command_of(pid: int) -> str:
    """The command line of a process, shortened."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    return " ".join(word for word in words if word)[:120]
