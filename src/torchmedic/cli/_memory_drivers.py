"""What drives the growth of memory: the lines whose tensors grow most along a sweep."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torchmedic.cli._memory_axes import Sweep
from torchmedic.facts import BigTensor, Location, MemoryPlan

_MOST = 4
_LEAST_SHARE = 0.05


@dataclass(frozen=True)
class Driver:
    """A line, how many bytes it adds between the smallest and the largest size, and with which power."""

    where: Location
    grown: int
    power: float | None
    tensor: str


def drivers(found: Sweep) -> list[Driver]:
    """The lines behind most of the growth, largest first."""
    first, last = found.plans[0], found.plans[-1]
    ratio = math.log(found.sizes[-1] / found.sizes[0])
    before = _by_line(first)
    rows = []
    total = max(last.peak_allocated - first.peak_allocated, 1)
    for key, (where, held) in _by_line(last).items():
        earlier = before[key][1] if key in before else 0
        grown = held - earlier
        if grown < _LEAST_SHARE * total:
            continue
        power = math.log(held / earlier) / ratio if earlier else None
        rows.append(Driver(where, grown, power, _tensor(found, where)))
    return sorted(rows, key=lambda row: -row.grown)[:_MOST]


def _by_line(plan: MemoryPlan) -> dict[tuple[str, int], tuple[Location, int]]:
    return {
        (share.where.file, share.where.line): (share.where, share.bytes)
        for share in plan.by_line
        if share.where is not None
    }


def _tensor(found: Sweep, where: Location) -> str:
    """The largest tensor of a line that follows the size, with the dimensions that do called by its name."""
    # A length that another size has left as it was is one of the model's.
    constant = {length for big in found.plans[0].largest for length in big.shape}
    size = 0 if found.sizes[-1] in constant else found.sizes[-1]
    of_line = [big for big in found.plans[-1].largest if str(big.where) == str(where)]
    following = [big for big in of_line if size in big.shape] or of_line
    return _named_shape(following[0], found.axis.name, size) if following else ""


def _named_shape(big: BigTensor, name: str, size: int) -> str:
    return f"{big.dtype}[{', '.join(name if length == size else str(length) for length in big.shape)}]"
