"""What drives the growth of memory: the lines whose tensors grow most along a sweep."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torchmedic.cli._memory_axes import Sweep
from torchmedic.facts import BigTensor, Location, MemoryPlan

_MOST = 4
_LEAST_SHARE = 0.05
_MANY = 64  # a size from which a multiple of it is no chance


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
    before, size = _by_line(first), _Lengths(found)
    rows = []
    total = max(last.peak_allocated - first.peak_allocated, 1)
    for key, (where, held) in _by_line(last).items():
        earlier = before[key][1] if key in before else 0
        grown = held - earlier
        if grown < _LEAST_SHARE * total:
            continue
        big = _tensor(found, where, size)
        power = math.log(held / earlier) / ratio if earlier else None
        # Peaks at other moments hold other things of a line: the tensor's own dimensions tell, where they do.
        followed = sum(length in size.names for length in big.shape) if big is not None else 0
        power = float(followed) if earlier and followed else power
        rows.append(Driver(where, grown, power, size.shape_of(big) if big is not None else ""))
    return sorted(rows, key=lambda row: -row.grown)[:_MOST]


def _by_line(plan: MemoryPlan) -> dict[tuple[str, int], tuple[Location, int]]:
    return {
        (share.where.file, share.where.line): (share.where, share.bytes)
        for share in plan.by_line
        if share.where is not None
    }


class _Lengths:
    """The lengths of the last plan's tensors that follow the size, by what to call them."""

    def __init__(self, found: Sweep) -> None:
        size, name = found.sizes[-1], found.axis.name
        # A length that the other sizes have left as it was is one of the model's.
        earlier = ({length for big in plan.largest for length in big.shape} for plan in found.plans[:-1])
        constant = set.intersection(*earlier)
        self.names = {} if size in constant else {size: name}
        for big in found.plans[-1].largest:
            for length in big.shape if len(big.shape) > 1 and size >= _MANY else ():
                # Two views of every sample, say; a single row of a matrix would hide the square.
                if length and length % size == 0 and length not in constant:
                    self.names.setdefault(length, f"{length // size} x {name}")

    def shape_of(self, big: BigTensor) -> str:
        return f"{big.dtype}[{', '.join(self.names.get(length, str(length)) for length in big.shape)}]"


def _tensor(found: Sweep, where: Location, size: _Lengths) -> BigTensor | None:
    """The largest tensor of a line that follows the size, or else its largest."""
    of_line = [big for big in found.plans[-1].largest if str(big.where) == str(where)]
    following = [big for big in of_line if any(length in size.names for length in big.shape)] or of_line
    return following[0] if following else None
