"""What was seen of numbers that stay finite and lose something on the way: old copies, scales, parts dropped."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class StaleCasts(Observation):
    """Weights whose half-precision copy was made before several updates and is still computed with.

    `autocast` is the line that entered the context which keeps the copies, `updates` how many steps they have missed
    so far, `dtype` their type. `parameters` are some of the `count` weights.
    """

    kind: ClassVar[str] = "stale-casts"
    step: int | None
    autocast: Location | None
    is_decorator: bool
    stepped: Location | None
    optimizer: str
    dtype: str
    updates: int
    parameters: tuple[str, ...]
    count: int


@fact
class ScaledGradient(Observation):
    """A gradient of values that a `GradScaler` had multiplied, on its way into the loss without being divided again.

    `name` is what the script calls it, `values` what it is the gradient of, as it is written; `scaled` the line that
    multiplied those.
    """

    kind: ClassVar[str] = "scaled-gradient"
    step: int | None
    where: Location
    text: str
    name: str
    values: str
    scaler: str
    scaled: Location | None
    scale: float
    times: int


@fact
class ImaginaryDropped(Observation):
    """Complex values that became real ones on their way to the loss, `times` in one step, with a part that was not 0.

    `stored` says that they were put into a real tensor, which `made` made and which the script calls `name`; else they
    were cast. `share` is how large the imaginary part is beside the whole, `text` the expression at `where`.
    """

    kind: ClassVar[str] = "imaginary-dropped"
    step: int | None
    where: Location
    text: str
    stored: bool
    name: str
    made: Location | None
    made_text: str
    dtype: str
    share: float
    times: int


@fact
class SwallowedOverflow(Observation):
    """A value of float16 that became infinite, and by which what it was made of was divided: the quotient is 0.

    `op` made it, at `where`, of numbers up to `largest`; `share` is how much of what is not 0 became 0 at `divided`.
    """

    kind: ClassVar[str] = "swallowed-overflow"
    step: int | None
    op: str
    expression: str
    largest: float
    share: float
    samples: int
    where: Location | None
    divided: Location | None
    quotient: str
