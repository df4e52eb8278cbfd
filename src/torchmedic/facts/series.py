"""Numbers sampled over a run: their names in the run file, and a series as it is drawn."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Observation
from torchmedic.facts.fact import fact

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


@fact
class Series:
    """Values by step. None is a value that was not finite. `low` and `high` are the ends of what a value stands for."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@fact
class LayersWatched(Observation):
    """The layers whose gradients and weights are sampled, in the order of the model."""

    kind: ClassVar[str] = "layers-watched"
    step: int | None
    names: tuple[str, ...]
