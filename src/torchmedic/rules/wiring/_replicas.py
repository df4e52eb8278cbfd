"""What ranks without a wrapper have in common, and what not."""

from __future__ import annotations

import math

from torchmedic.facts import Replica, Run

_TOLERANCE = 1e-5


def replicas_of(run: Run) -> dict[int, list[Replica]]:
    """By step, one of each rank; only steps that all ranks have made."""
    found: dict[int, list[Replica]] = {}
    for rank in run.ranks:
        for step, seen in {seen.step or 0: seen for seen in rank.all(Replica)}.items():
            found.setdefault(step, []).append(seen)
    return {step: found[step] for step in sorted(found) if len(found[step]) == len(run.ranks) > 1}


def differing(replicas: list[Replica], among: tuple[str, ...] = ()) -> tuple[str, float, float] | None:
    """A parameter whose norm differs between ranks, with the smallest and the largest; None for other models, too.

    Where `among` names some, only those are asked of.
    """
    if len({tuple(seen.norms) for seen in replicas}) > 1:
        return None
    for name in [name for name in replicas[0].norms if not among or name in among]:
        values = [seen.norms[name] for seen in replicas]
        low, high = min(values), max(values)
        if math.isfinite(low) and math.isfinite(high) and high - low > _TOLERANCE * max(abs(high), 1e-12):
            return name, low, high
    return None
