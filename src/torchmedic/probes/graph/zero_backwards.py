"""Functions of the user's own whose `backward` handed on nothing but zeros, in a traced step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchmedic.probes.graph.cuts import Cut
from torchmedic.probes.graph.trace import StorageKey, is_written_by_user
from torchmedic.probes.graph.traced_step import StepTrace


def cuts_by_own_backward(
    trace: StepTrace, root: Any, target: Callable[[Any], bool], keys: set[StorageKey]
) -> list[Cut]:
    """Where every way to the targets leads through such functions: the last line of their `backward` that computes."""
    if root is None or not _all_ways_lead_through(root, target):
        return []
    by_node: dict[str, int] = {}
    for op in trace.ops:
        if op.phase == "backward" and op.is_own_backward:
            by_node[op.node] = op.index
    last = [trace.ops[index] for index in by_node.values() if index in trace.all_zero]
    return [
        Cut("own-backward", op.node, op.place.location(), op.place.expression(), keys=set(keys), at=op.index)
        for op in last
        if op.place is not None and op.node in trace.fed
    ]


def _all_ways_lead_through(root: Any, target: Callable[[Any], bool]) -> bool:
    reached = _walk(root, stop=True)
    return not any(target(node) for node in reached) and any(target(node) for node in _walk(root, stop=False))


def _walk(root: Any, *, stop: bool) -> list[Any]:
    waiting, seen = [root], {root}
    while waiting:
        node = waiting.pop()
        if stop and is_written_by_user(node):
            continue
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return list(seen)
