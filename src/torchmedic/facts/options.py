"""What was seen of a script's command line."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class FalseTakenForTrue(Observation):
    """An option with `type=bool` that was given a text such as `False`, of which `bool` makes True."""

    kind: ClassVar[str] = "false-taken-for-true"
    step: int | None
    option: str
    name: str
    text: str
    where: Location
