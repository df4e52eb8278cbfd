"""Whether a rank has left the training loop while others are still in it."""

from __future__ import annotations

from torchmedic.facts import CollectiveCall, Location, Run
from torchmedic.rules.ranks._calls import GRADIENTS, Parting, has_finished


def has_left_loop(run: Run, parted: Parting) -> list[int]:
    """The ranks that are past the loop in which the others exchange gradients; empty where that is not so."""
    inside = [call for call in parted.waiting.values() if call.op == GRADIENTS]
    if not inside:
        return []
    gone = [rank for rank in parted.absent if has_finished(run, rank)]
    gone += [rank for rank, call in parted.waiting.items() if call.op != GRADIENTS and _is_past(call, inside[0].where)]
    return sorted(gone)


def _is_past(call: CollectiveCall, backward: Location | None) -> bool:
    """Below the line of `backward` and less indented than it: after the loop, not in it."""
    where = call.where
    if where is None or backward is None or (where.file, where.function) != (backward.file, backward.function):
        return False
    return where.line > backward.line and _indent(where) < _indent(backward)


def _indent(place: Location) -> int:
    return len(place.source) - len(place.source.lstrip())
