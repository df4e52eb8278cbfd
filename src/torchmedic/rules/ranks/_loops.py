"""Whether a rank has left the training loop while others are still in it."""

from __future__ import annotations

from torchmedic.facts import CollectiveCall, Location, Run
from torchmedic.rules.ranks._calls import BUFFERS, GRADIENTS, Parting, has_finished
from torchmedic.rules.ranks._nesting import has_left


def has_left_loop(run: Run, parted: Parting) -> list[int]:
    """The ranks that are past the loop in which the others exchange gradients; empty where that is not so."""
    inside = next((call for call in parted.waiting.values() if trains(call)), None)
    if inside is None:
        return []
    gone = [rank for rank in parted.absent if has_finished(run, rank)]
    gone += [rank for rank, call in parted.waiting.items() if not trains(call) and _has_left(call, inside)]
    return sorted(gone)


def trains(call: CollectiveCall) -> bool:
    """Whether a call is made in the training step itself: by backward, or by the forward before it."""
    return call.op == GRADIENTS or (call.op == BUFFERS and not call.form)


def _has_left(gone: CollectiveCall, inside: CollectiveCall) -> bool:
    if gone.nests and inside.nests:
        return has_left(gone.nests, inside.nests, is_behind=inside.passes <= gone.passes)
    return _is_past(gone, inside.where)


def _is_past(call: CollectiveCall, backward: Location | None) -> bool:
    """Below the line of `backward` and less indented than it: after the loop, not in it."""
    where = call.where
    if where is None or backward is None or (where.file, where.function) != (backward.file, backward.function):
        return False
    return where.line > backward.line and _indent(where) < _indent(backward)


def _indent(place: Location) -> int:
    return len(place.source) - len(place.source.lstrip())
