"""Numbers that are made shares of their sum where each is the only one: 1 each, whatever they are."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import Location, ShareOfOne
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace, Read

_MOST_LINES = 40
DIVISIONS = frozenset(("div", "true_divide", "truediv", "divide", "idiv", "itruediv"))
_TOTALS = frozenset(("sum", "mean", "norm", "vector_norm", "amax", "logsumexp"))
_PICKING = TRANSPARENT | {"topk", "max", "amax", "sort", "gather", "take_along_dim"}
_GUARDS = TRANSPARENT | {"add", "radd", "maximum", "clamp_min", "clamp", "abs"}


@late_dataclass()
class _Line:
    """A line that divides by its own total: how often it was seen, and how often each number was its own total."""

    where: Location
    expression: str
    total: str
    shape: tuple[int, ...]
    dim: int
    picked_from: int
    looks: int = 0
    single: int = 0


class LoneShares:
    """Looks at the divisions of examined steps."""

    def __init__(self) -> None:
        self._lines: dict[Location, _Line] = {}

    def look(self, trace: CallTrace, call: Call) -> None:
        if len(call.reads) != 2 or call.place is None or not call.is_users:
            return
        parts, whole = call.reads
        total = _total_behind(trace, parts, whole)
        if total is None:
            return
        where = call.place.location()
        line = self._lines.get(where)
        if line is None:
            if len(self._lines) >= _MOST_LINES:
                return
            dim, picked_from = picked(trace, parts)
            line = _Line(where, call.place.expression(), total.name, parts.shape, dim, picked_from)
            self._lines[where] = line
        line.looks += 1
        line.single += total.shape == parts.shape and math.prod(parts.shape) > 1

    def facts(self, step: int) -> Iterator[ShareOfOne]:
        for line in self._lines.values():
            if line.single == line.looks:
                yield ShareOfOne(
                    step=step,
                    where=line.where,
                    expression=line.expression,
                    total=line.total,
                    shape=line.shape,
                    dim=line.dim,
                    picked_from=line.picked_from,
                    looks=line.looks,
                )


def _total_behind(trace: CallTrace, parts: Read, whole: Read) -> Call | None:
    """The call that summed up the very numbers that are divided, with a gradient through both."""
    if not parts.requires_grad or not whole.requires_grad or parts.maker is None or len(parts.shape) < 2:
        return None
    way = trace.way_back(whole.maker, _GUARDS)
    total = way[-1] if way and way[-1].name in _TOTALS and way[-1].reads else None
    if total is None or total.reads[0].maker != parts.maker or total.reads[0].shape != parts.shape:
        return None
    return total


def picked(trace: CallTrace, parts: Read) -> tuple[int, int]:
    """The dimension in which one of several was picked, and of how many; else the last one of size 1."""
    for call in trace.way_back(parts.maker, TRANSPARENT):
        before = call.reads[0].shape if call.reads and call.name in _PICKING else ()
        if len(before) == len(parts.shape):
            wider = [dim for dim, size in enumerate(parts.shape) if size == 1 and before[dim] > 1]
            if wider:
                return wider[-1], before[wider[-1]]
    return max((dim for dim, size in enumerate(parts.shape) if size == 1), default=0), 0
