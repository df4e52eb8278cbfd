"""How much of the machine a check-up may use."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from torchmedic.checkups.data.options import DataError

MIB = 1 << 20
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BINARY = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
# What Python, the engine's code and its buffers outside of its own limit were seen to need.
_PROCESS = 256 * MIB
_MOST_HASHES = 256 * MIB


def threads() -> int:
    """How many cores this process may use: affinity, control groups and SLURM all have a say."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = min(allowed, _said("SLURM_CPUS_PER_TASK", allowed))
    for line in _in_groups("cpu.max"):
        with contextlib.suppress(ValueError):
            quota, period = line.split()
            allowed = min(allowed, int(quota) // int(period))
    return max(1, allowed)


def memory() -> int:
    """Bytes the process may use: half of what machine, control groups and SLURM leave it, 8 GiB at most."""
    import psutil

    free: int = psutil.virtual_memory().available
    for line in _in_groups("memory.max"):
        with contextlib.suppress(ValueError):
            free = min(free, int(line))
    free = min(free, _said("SLURM_MEM_PER_NODE", free // MIB) * MIB)
    cores = _said("SLURM_CPUS_PER_TASK", 1)
    free = min(free, _said("SLURM_MEM_PER_CPU", free // MIB) * cores * MIB)
    return max(256 * MIB, min(free // 2, 8 << 30))


def _said(name: str, otherwise: int) -> int:
    """A number that SLURM gives its jobs; 0 means that there is no limit."""
    with contextlib.suppress(ValueError):
        return int(os.environ.get(name, otherwise)) or otherwise
    return otherwise


def _in_groups(name: str) -> list[str]:
    """What a file says in the control group of this process and in those around it: the narrowest holds."""
    own = ""
    with contextlib.suppress(OSError):
        lines = _OWN_GROUP.read_text().splitlines()
        own = next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
    found = []
    for group in (_GROUPS / own, *(_GROUPS / parent for parent in Path(own).parents)):
        with contextlib.suppress(OSError):
            found.append((group / name).read_text())
    return found


def amount(text: str) -> int:
    """Bytes, from a number with or without a unit.

    >>> amount("1GiB"), amount("1.5 gb"), amount("512M")
    (1073741824, 1500000000, 536870912)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.strip().lower())
    unit = (_UNITS | _DECIMAL | _BINARY).get(found.group(2)) if found else None
    if found is None or unit is None:
        raise DataError(f"no amount of memory: {text}")
    if not float(found.group(1)):
        raise DataError("no amount of memory: 0")
    return int(float(found.group(1)) * unit)


def room_for_hashes(limit: int) -> int:
    """Bytes set aside for the hashes of rows, of all that the process may use."""
    return min(_MOST_HASHES, limit // 4)


def engine_limit(limit: int) -> int:
    """What is left for the engine of all that the process may use; an engine cannot work with less than 64 MiB."""
    return max(64 * MIB, limit - room_for_hashes(limit) - _PROCESS)
