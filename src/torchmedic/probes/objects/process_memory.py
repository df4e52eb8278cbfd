"""How much memory this process holds."""

from __future__ import annotations

import os

import torch


def held_bytes() -> int:
    """On the host and on its card."""
    on_card = torch.cuda.memory_allocated() if torch.cuda.is_initialized() else 0  # type: ignore[no-untyped-call]
    return resident_bytes() + on_card


def resident_bytes() -> int:
    """On the host."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import psutil  # where there is no such file; it would cost every other run time to import it

        return int(psutil.Process().memory_info().rss)
