"""What was seen of a training that goes on from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torchmedic.facts.core import Location, Observation


@dataclass(frozen=True, kw_only=True)
class StateLeftInFile(Observation):
    """A checkpoint that was read, with an optimizer's state in it that no optimizer was given.

    `fits` says that an optimizer of the run has as many parameters, the same settings and the same rate: the training
    goes on, rather than begins anew from other people's weights. `steps` were made by it after the file was read.
    """

    kind: ClassVar[str] = "state-left-in-file"
    key: str
    entries: int
    read: Location | None
    optimizer: str
    built: Location | None
    fits: bool
    steps: int
    model_loaded: bool
    step: int | None = None
