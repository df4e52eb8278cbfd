"""What was seen of averaged copies of a model."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class AverageSeen(Observation):
    """A copy of trained weights that no optimizer steps, as it followed them at a few updates.

    `kept` is the share of itself that the copy kept at each update looked at, after the steps `steps`: 0.999 in a slow
    average, 1 where it stayed as it was, 0 where it was overwritten. `named_so` says that the user calls it an average,
    `shared` that its tensors are those of the model, `still` that it had not moved by the end, after
    `trained` steps, though the model had, and `moved` that its weights were seen to change.
    """

    kind: ClassVar[str] = "average-seen"
    name: str
    named_so: bool
    model: str
    parameter: str
    kept: tuple[float, ...]
    steps: tuple[int, ...]
    shared: bool
    still: bool
    trained: int
    built: Location | None
    updated: Location | None
    by_torch: bool = False
    stale: tuple[str, ...] = ()
    evaluated_at: Location | None = None
    moved: bool = False
    step: int | None = None


@fact
class AverageLeftIn(Observation):
    """An average that took the place of a model's own weights, and was still there at the next update, `times` times.

    `name` is the average, `backup` the name under which the weights of the model were kept in the meantime; `restore`
    is a method of the average's class that puts them back, where nothing calls it. `where` is the line that wrote.
    """

    kind: ClassVar[str] = "average-left-in"
    step: int | None
    name: str
    model: str
    parameter: str
    times: int
    backup: str
    restore: Location | None
    where: Location | None
