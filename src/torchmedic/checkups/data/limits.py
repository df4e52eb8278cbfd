"""How much of the machine a check-up may use."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from torchmedic.checkups.data.options import DataError

MIB = 1 << 20
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BINARY = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
# What Python, the engine's code and its buffers outside of its own limit were seen to need.
_PROCESS = 256 * MIB
_MOST_HASHES = 256 * MIB


def threads() -> int:
    """How many cores this process may use: affinity, control group and SLURM all have a say."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(ValueError):
        allowed = min(allowed, int(os.environ.get("SLURM_CPUS_PER_TASK", allowed)))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        allowed = min(allowed, max(1, int(quota) // int(period)))
    return max(1, allowed)


def memory() -> int:
    """Bytes the process may use: half of what the machine or the control group has free, 8 GiB at most."""
    import psutil

    free: int = psutil.virtual_memory().available
    with contextlib.suppress(OSError, ValueError):
        free = min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(256 * MIB, min(free // 2, 8 << 30))


def amount(text: str) -> int:
    """Bytes, from a number with or without a unit.

    >>> amount("1GiB"), amount("1.5 gb"), amount("512M")
    (1073741824, 1500000000, 536870912)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.strip().lower())
    unit = (_UNITS | _DECIMAL | _BINARY).get(found.group(2)) if found else None
    if found is None or unit is None:
        raise DataError(f"no amount of memory: {text}")
    return int(float(found.group(1)) * unit)


def room_for_hashes(limit: int) -> int:
    """Bytes set aside for the hashes of rows, of all that the process may use."""
    return min(_MOST_HASHES, limit // 4)


def engine_limit(limit: int) -> int:
    """What is left for the engine of all that the process may use; an engine cannot work with less than 64 MiB."""
    return max(64 * MIB, limit - room_for_hashes(limit) - _PROCESS)
