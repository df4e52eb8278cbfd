"""What stood around a crash: the user's source, loaders, models, and what autograd could tell."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class SourceFile(Observation):
    """A file of the user's own code as it stood when the script died, so that rules can read the syntax."""

    kind: ClassVar[str] = "source-file"
    file: str
    text: str
    step: int | None = None


@fact
class LoaderAtCrash(Observation):
    """A DataLoader that a variable of the failing frames held."""

    kind: ClassVar[str] = "loader-at-crash"
    name: str
    samples: int | None = None
    batch_size: int | None = None
    drop_last: bool = False
    built: Location | None = None
    step: int | None = None


@fact
class HiddenLayers:
    """Layers in a plain container, where their module does not see them; `where` is the line that made it."""

    attribute: str
    container: str
    count: int
    where: Location | None = None


@fact
class ModelAtCrash(Observation):
    """A module that a variable of the failing frames held: how much of it learns, and where it lives."""

    kind: ClassVar[str] = "model-at-crash"
    name: str
    type: str
    parameters: int = 0
    trainable: int = 0
    devices: dict[str, int] | None = None
    dtypes: dict[str, int] | None = None
    off_device: tuple[str, ...] = ()
    non_finite: tuple[str, ...] = ()
    training: bool = True
    hidden: tuple[HiddenLayers, ...] = ()
    step: int | None = None


@fact
class AddedPart:
    """A part that was put into a model when that had been made."""

    path: str
    where: Location


@fact
class NothingLearns(Observation):
    """`backward` found no graph, and all that the optimizer built last was given is frozen.

    `where` is the line that froze it, `added` what had been put into the model shortly before. Of the model itself
    `learning` of `of_model` parameters are not frozen.
    """

    kind: ClassVar[str] = "nothing-learns"
    model: str
    optimizer: str
    built: Location | None
    parameters: tuple[str, ...]
    count: int
    of_model: int
    learning: int
    where: Location
    added: tuple[AddedPart, ...] = ()
    step: int | None = None


@fact
class LayerBuilt(Observation):
    """The user's line that made a layer of the model that failed, and those that led to it, innermost first."""

    kind: ClassVar[str] = "layer-built"
    path: str
    type: str
    location: Location
    settings: dict[str, str] = field(default_factory=dict)
    callers: tuple[Location, ...] = ()
    step: int | None = None


@fact
class GradModeAtCrash(Observation):
    """Whether gradients were switched off for the whole process when the script died."""

    kind: ClassVar[str] = "grad-mode-at-crash"
    enabled: bool
    step: int | None = None


@fact
class Holder:
    """A name under which a live tensor was found: `self.hidden` of a `Net`, a variable, an item of a list."""

    name: str
    kind: str
    owner: str = ""
    function: str = ""
    file: str = ""
    shape: tuple[int, ...] = ()
    version: int = 0
    grad_fn: str = ""
    is_old: bool = False


@fact
class BatchReshaped(Observation):
    """A reshape from `before`, a row for each sample, to `after`, on the way to a tensor that failed beside `other`.

    `tensor` is the name of what became of it on the failing line, and `shape` its form there.
    """

    kind: ClassVar[str] = "batch-reshaped"
    tensor: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    shape: tuple[int, ...]
    other: tuple[int, ...]
    step: int | None = None


@fact
class StaleGraph(Observation):
    """Where a second backward ran into a graph that an earlier backward had freed.

    `operation` and `shape` describe the old node at the border; `holders` are names that lead to it.
    """

    kind: ClassVar[str] = "stale-graph"
    operation: str = ""
    shape: tuple[int, ...] = ()
    same_root: bool = False
    first_backward: Location | None = None
    holders: tuple[Holder, ...] = ()
    step: int | None = None


@fact
class InplaceClash(Observation):
    """A saved tensor whose version had moved on: what made it, what consumed it, which names match it.

    `nodes` are the kinds of operation in the whole graph.
    """

    kind: ClassVar[str] = "inplace-clash"
    operation: str = ""
    shape: tuple[int, ...] = ()
    version: int = 0
    expected: int = 0
    consumers: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    holders: tuple[Holder, ...] = ()
    step: int | None = None


@fact
class InplaceChange(Observation):
    """The operation that changed a saved tensor, seen when the script ran again.

    `saved_by` is the expression that needed the tensor as it was. A `layer` that works in place has the line that
    built it; `by_optimizer` says that an update of the weights wrote into it.
    """

    kind: ClassVar[str] = "inplace-change"
    op: str
    where: Location | None = None
    expression: str = ""
    layer: str = ""
    layer_built: Location | None = None
    by_optimizer: bool = False
    shape: tuple[int, ...] = ()
    expected: int = 0
    version: int = 0
    saved_at: Location | None = None
    saved_by: str = ""
    step: int | None = None


@fact
class IndexOutside(Observation):
    """The first index or label that lies outside its table, or length of nothing, and how many more there are.

    `sample` is what the data set calls the row of the batch that it is in, where a DataLoader handed the batch out, and
    `made` the line of that data set which gives a sample its label.
    """

    kind: ClassVar[str] = "index-outside"
    what: str
    value: int
    bound: int
    position: tuple[int, ...] = ()
    count: int = 1
    total: int = 0
    rows: int = 0
    minimum: int = 0
    maximum: int = 0
    ignored: int | None = None
    sample: int | None = None
    made: Location | None = None
    step: int | None = None


@fact
class IdsShifted(Observation):
    """An attribute of a batch of graphs whose ids lie in range in each graph, and not with what batching added.

    `offset` is what was added to the ids of the last graph; `minimum` and `maximum` are those of the graphs themselves.
    """

    kind: ClassVar[str] = "ids-shifted"
    attribute: str
    graphs: int
    minimum: int
    maximum: int
    offset: int
    made: Location | None = None
    step: int | None = None
