"""What was seen of weights and gradients that ranks keep equal."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class Replica(Observation):
    """The parameters of a rank that trains without a wrapper, after one of the steps that are compared (0: before any).

    `exchanged` counts the collectives so far that carried gradients or parameters, `exchanged_at` is the line of the
    first. `shared` are the parameters that were themselves exchanged, or whose gradients were; it is empty where they
    went all together.
    """

    kind: ClassVar[str] = "replica"
    step: int | None
    norms: dict[str, float] = field(default_factory=dict)
    exchanged: int = 0
    exchanged_at: Location | None = None
    shared: tuple[str, ...] = ()
    built: Location | None = None
    stepped_at: Location | None = None
    seed: int = 0


@fact
class GradientExchange(Observation):
    """What became of a rank's gradients between its backward pass and the update, told by one weighted sum of each.

    Such sums are linear: those of all ranks add up to that of the added gradients. `local` is after backward, `stepped`
    at the update. `is_mean` says that the loss is a mean which nothing divides by the number of ranks.
    """

    kind: ClassVar[str] = "gradient-exchange"
    step: int | None
    local: dict[str, float] = field(default_factory=dict)
    stepped: dict[str, float] = field(default_factory=dict)
    loss: float | None = None
    is_mean: bool = False
    optimizer: str = ""
    exchanged_at: Location | None = None
    in_hook: bool = False


@fact
class WritesByRank(Observation):
    """Lines that write weights under an `if` that chooses ranks, by the source: whether they ran is not known."""

    kind: ClassVar[str] = "writes-by-rank"
    places: tuple[Location, ...] = ()
    step: int | None = None


@fact
class WeightsWritten(Observation):
    """A line that wrote into a wrapped parameter, between the wrapping and the first forward pass."""

    kind: ClassVar[str] = "weights-written"
    where: Location
    names: tuple[str, ...] = ()
    op: str = ""
    step: int | None = None
