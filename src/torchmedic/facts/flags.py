"""What was seen of attributes that are set although torch never reads them."""

from __future__ import annotations

from typing import ClassVar, Literal

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class IdleSwitch(Observation):
    """A line that gives a module, a parameter or an optimizer an attribute which changes nothing.

    `meant` is what torch reads instead, and `instead` its value; `count` is the number of parameters that were to be
    switched and were not.
    """

    kind: ClassVar[str] = "idle-switch"
    step: int | None
    of: Literal["module", "parameter", "optimizer", "group"]
    owner: str
    attribute: str
    meant: str
    value: str
    instead: str
    text: str
    where: Location
    target: str
    count: int = 0
    examples: tuple[str, ...] = ()


@fact
class FrozenGroup(Observation):
    """A group of an optimizer all of whose parameters are embeddings that `from_pretrained` has frozen by default.

    `where` is that call, with the `expression` as it is written; nothing has switched their gradient on.
    """

    kind: ClassVar[str] = "frozen-group"
    step: int | None
    parameters: tuple[str, ...]
    where: Location
    expression: str
    optimizer: str
    built: Location | None
    lr: float | None


@fact
class FrozenNumbers(Observation):
    """Numbered blocks of a model, frozen or not, and the test of their names that decided it."""

    kind: ClassVar[str] = "frozen-numbers"
    step: int | None
    path: str
    frozen: tuple[int, ...]
    trained: tuple[int, ...]
    where: Location | None = None


@fact
class FrozenMoved(Observation):
    """Parameters with `requires_grad=False` and a gradient of zeros, which a step of their optimizer changed."""

    kind: ClassVar[str] = "frozen-moved"
    step: int | None
    optimizer: str
    parameters: tuple[str, ...]
    count: int
    decay: float
    where: Location


@fact
class FreezeUndone(Observation):
    """Parameters that the line `frozen_at` froze and the line at `where`, which goes over more of them, switched on.

    No optimizer stepped in between. `switched_on` is the number of parameters that the second line went over.
    """

    kind: ClassVar[str] = "freeze-undone"
    step: int | None
    parameters: tuple[str, ...]
    count: int
    switched_on: int
    frozen_at: Location
    where: Location


@fact
class NeverThawed(Observation):
    """Frozen parameters in an optimizer, and a function that sets `requires_grad` only of what has it already.

    `where` is its condition, `frozen` a call on `subject` with False, and `thawed` one with True.
    """

    kind: ClassVar[str] = "never-thawed"
    step: int | None
    parameters: tuple[str, ...]
    count: int
    function: str
    subject: str
    where: Location
    frozen: Location
    thawed: Location
