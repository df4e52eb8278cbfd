"""Squared averages of an optimizer that are 0 beside averages that are not: no training makes such a state."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from torchmedic.late import late_dataclass

_AVERAGE = "exp_avg"
# With `amsgrad`, the greatest of the squared averages is what divides.
_DIVIDING = ("max_exp_avg_sq", "exp_avg_sq")


@late_dataclass()
class Lost:
    """What a state has lost; `parameter` is the one with the greatest average that is left without its square."""

    entry: str
    parameter: torch.Tensor
    eps: float
    moved: int = 0
    lost: int = 0
    largest: float = 0.0


def lost_moments(optimizer: Any) -> Lost | None:
    """Counts over all parameters; None where nothing is lost."""
    found: Lost | None = None
    moved = 0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            state = optimizer.state.get(parameter, {})
            entry = next((key for key in _DIVIDING if key in state), "")
            average, square = state.get(_AVERAGE), state.get(entry)
            if not _are_alike(average, square) or not isinstance(group.get("eps"), float):
                continue
            moves = average != 0
            alone = moves & (square == 0)
            moved += int(moves.sum())
            lost = int(alone.sum())
            if not lost:
                continue
            largest = float(average[alone].abs().max())
            found = found or Lost(entry, parameter, group["eps"])
            found.lost += lost
            if largest > found.largest:
                found.largest, found.parameter, found.eps = largest, parameter, group["eps"]
    if found is not None:
        found.moved = moved
    return found


def type_of_entry(given: Any, entry: str) -> str:
    """The type that most of the tensors under a name have in the state that was given."""
    states = given.get("state", {}).values() if isinstance(given, dict) else ()
    types = Counter(str(held[entry].dtype) for held in states if isinstance(held.get(entry), torch.Tensor))
    return types.most_common(1)[0][0].removeprefix("torch.") if types else ""


def _are_alike(average: Any, square: Any) -> bool:
    return (
        isinstance(average, torch.Tensor)
        and isinstance(square, torch.Tensor)
        and average.shape == square.shape
        and average.layout == square.layout == torch.strided
        and average.device == square.device
        and average.device.type != "meta"
    )
