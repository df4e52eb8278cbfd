"""Numbers sampled over a run: their names in the run file, and a series as it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torchmedic.facts.core import Observation

LOSS = "loss"
LOSS_LOW = "loss/low"
LOSS_HIGH = "loss/high"
RATE = "rate"
HOST_MEMORY = "memory/host"
DEVICE_MEMORY = "memory/device"
GRADIENT = "gradient/"
WEIGHT = "weight/"
ACTIVATION = "activation/"
LAYER_KINDS = (GRADIENT, WEIGHT, ACTIVATION)


@dataclass(frozen=True, kw_only=True)
class Series:
    """Values by step. None is a value that was not finite. `low` and `high` are the ends of what a value stands for."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LayersWatched(Observation):
    """The layers whose gradients and weights are sampled, in the order of the model."""

    kind: ClassVar[str] = "layers-watched"
    step: int | None
    names: tuple[str, ...]
