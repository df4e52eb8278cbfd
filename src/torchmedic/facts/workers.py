"""What was seen of the random numbers that loader workers draw."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class WorkerStream(Observation):
    """A source of random numbers that workers of a training loader drew from while they fetched their first batch.

    `alike` of the `workers` of one pass began with the same state. In `repeated` of `passes` a worker began with the
    state that it began an earlier pass with, `same_samples` if its first batch was of the same samples, too.
    `where` is the line that makes the generator or seeds it.
    """

    kind: ClassVar[str] = "worker-stream"
    stream: str
    dataset: str
    workers: int
    alike: int
    passes: int
    repeated: int
    same_samples: bool
    held: bool
    where: Location | None
    loader_built: Location | None
    step: int | None = None
