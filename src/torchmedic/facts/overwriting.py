"""What was seen of loaded weights that did not last."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class LoadOverwritten(Observation):
    """Weights that were loaded and changed again before the model was called: `changed` of the `looked_at` matrices."""

    kind: ClassVar[str] = "load-overwritten"
    step: int | None
    module: str
    loaded: Location | None
    overwritten: Location | None
    overwritten_text: str
    changed: int
    looked_at: int
    example: str


@fact
class FlagNotKept(Observation):
    """A module that set its loaded values anew at its first call, under a plain attribute that no checkpoint keeps."""

    kind: ClassVar[str] = "flag-not-kept"
    step: int | None
    module: str
    flag: str
    set_at: Location | None
    guard: Location
    loaded_at: Location | None
    changed: tuple[str, ...]


@fact
class SettingNotRestored(Observation):
    """A setting of modules that an evaluation changed and that the training steps after it ran with."""

    kind: ClassVar[str] = "setting-not-restored"
    step: int | None
    module: str
    attribute: str
    before: float
    after: float
    where: Location
    text: str
    modules: int
    steps: int
