"""What was seen of classes that derive from a ready-made layer."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class UnheardOverride(Observation):
    """A method whose name is nearly `forward`, in a class that inherits a working `forward` and was used."""

    kind: ClassVar[str] = "unheard-override"
    owner: str
    method: str
    base: str
    where: Location
    step: int | None = None
