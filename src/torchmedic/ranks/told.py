"""What a launcher tells the processes that it starts, by their environment."""

from __future__ import annotations

from collections.abc import Mapping


def rank_in(environment: Mapping[str, str]) -> int | None:
    """The rank that torchrun and its kin tell a process."""
    for name in ("RANK", "LOCAL_RANK"):
        if environment.get(name, "").isdigit():
            return int(environment[name])
    return None


def world_in(environment: Mapping[str, str]) -> int:
    size = environment.get("WORLD_SIZE", "")
    return int(size) if size.isdigit() else 1
