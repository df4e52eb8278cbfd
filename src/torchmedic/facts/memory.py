"""What was seen of memory that only grows."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class KeptGraph(Observation):
    """Tensors of past steps that are alive with their autograd graph.

    `path` is how the script reaches them (`meter.values`), `container` the type that holds them, empty where a single
    tensor carries a graph over many steps (`is_chain`). `freed` says that backward has let go of the saved values.
    `where` is the line that hands the tensor over, `stored` the line that puts it away where that is another one.
    `never_emptied` says that the outermost loop around that line has nothing in it that empties the container.
    `own_bytes` is what the tensors themselves take, all of them together. `goes_on` says that the line makes the new
    value out of the old one; of a value computed from such a one it is not said. `key` is the one under which dicts in
    the container hold the tensors. `reaches_back`: the graph of the newest of many goes on into past steps.
    `most_elements` is of the largest of them.
    """

    kind: ClassVar[str] = "kept-graph"
    step: int | None
    path: str
    container: str
    is_chain: bool
    count: int
    first: int
    last: int
    freed: bool
    bytes_each: int
    nodes: int
    at_end: bool
    passes: int
    where: Location | None = None
    stored: Location | None = None
    value: str = ""
    never_emptied: bool = False
    resident_growth: int = 0
    own_bytes: int = 0
    goes_on: bool = False
    key: str = ""
    reaches_back: bool = False
    most_elements: int = 1


@fact
class PiledTensors(Observation):
    """Tensors without a graph that a container of the script gained in `steps` steps, and that nothing reads again.

    `path`, `container`, `where`, `stored` and `value` are as in `KeptGraph`; `count` and `bytes` are of the new ones.
    `last_read` says that the newest of them is read, and only that one.
    """

    kind: ClassVar[str] = "piled-tensors"
    step: int | None
    path: str
    container: str
    count: int
    bytes: int
    steps: int
    value: str = ""
    where: Location | None = None
    stored: Location | None = None
    last_read: bool = False


@fact
class WorkerGrowth(Observation):
    """Loader workers whose own memory grew, and the large container of Python objects that they share with the script.

    `before` and `after` are bytes that belong to the workers alone, all of them together. `path` is the attribute of
    the data set that holds `count` objects, `where` the line that fills it.
    """

    kind: ClassVar[str] = "worker-growth"
    step: int | None
    workers: int
    batches: int
    before: int
    after: int
    dataset: str
    path: str
    container: str
    count: int
    where: Location | None = None


@fact
class WorkerCache(Observation):
    """Loader workers that stay, and whose own memory grew by as much in every pass as in the second.

    `growth` is what the last of `passes` passes added to all of them, `held` what they have for themselves. `path` is
    the attribute or the function of the data set that keeps things, `where` the line that puts them there.
    """

    kind: ClassVar[str] = "worker-cache"
    step: int | None
    workers: int
    passes: int
    growth: int
    held: int
    dataset: str
    path: str
    where: Location | None = None


@fact
class PilingHooks(Observation):
    """Hooks that one line of the user's registers on modules again and again, and that nobody removes.

    `live` hooks of it were on one `module` when they were last counted, after `before` at an earlier count at
    `before_step`; `modules` are as many as it registers them on, with `total` hooks in all.
    `bytes` are those of the tensors that they hold.
    """

    kind: ClassVar[str] = "piling-hooks"
    step: int | None
    where: Location
    method: str
    module: str
    live: int
    before: int
    before_step: int
    modules: int
    total: int
    bytes: int = 0


@fact
class FruitlessCache(Observation):
    """A function with a cache that grew in every pass over the data, because hardly a call met an earlier one again.

    `size` results were kept in the end, `bytes` of tensors and arrays among them; in `passes` passes over the same data
    set there were `misses` new ones and `hits` found again. `argument` is the one without which calls would have met
    each other again, and `where` the line that puts the cache around `function`. With 0 `passes` it is a tensor, and
    no call of the whole run met another.
    """

    kind: ClassVar[str] = "fruitless-cache"
    step: int | None
    function: str
    size: int
    bytes: int
    passes: int
    misses: int
    hits: int
    argument: str = ""
    where: Location | None = None
