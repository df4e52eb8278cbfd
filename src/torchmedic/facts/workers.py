"""What was seen of loader workers: the random numbers that they draw, and the samples that they hand out."""

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


@fact
class SamplesRepeated(Observation):
    """Workers of a training loader that handed out the same samples of a stream in one pass.

    `alike` of the `workers` gave the same `samples`: the first ones, `in_order`, or all of them. `where` is the line
    of the stream's `__iter__` that goes over them.
    """

    kind: ClassVar[str] = "samples-repeated"
    dataset: str
    workers: int
    alike: int
    samples: int
    in_order: bool
    where: Location | None
    loader_built: Location | None
    step: int | None = None
