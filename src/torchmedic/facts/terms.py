"""What was seen of the parts of a loss: differences that vanish, pairs with oneself, terms without a floor."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class EqualOperands(Observation):
    """A difference of two tensors with gradient, computed apart, that was 0 everywhere in `equal` of `looks` looks."""

    kind: ClassVar[str] = "equal-operands"
    step: int | None
    where: Location | None
    expression: str
    names: tuple[str, str]
    second_made: Location | None
    looks: int
    equal: int
    shape: tuple[int, ...]


@fact
class OwnPositive(Observation):
    """A square table of similarities whose right answers lie on the diagonal, where each row meets itself."""

    kind: ClassVar[str] = "own-positive"
    step: int | None
    where: Location | None
    names: tuple[str, str]
    table_made: Location | None
    target_made: Location | None
    size: int
    loss: float | None


@fact
class SelfAmongNegatives(Observation):
    """A square table of similarities in which each row meets itself, and is never the right answer.

    `function` is the loss that was given the table, or `sum` where its exponentials are summed up by hand.
    """

    kind: ClassVar[str] = "self-among-negatives"
    step: int | None
    where: Location | None
    table: str
    function: str
    made: Location | None
    made_text: str
    size: int


@fact
class NodesTrainedOn(Observation):
    """A loss over all nodes of a graph that has masks for training and testing."""

    kind: ClassVar[str] = "nodes-trained-on"
    step: int | None
    where: Location | None
    function: str
    names: tuple[str, str]
    owner: str
    nodes: int
    train: int
    test: int


@fact
class LossTerm(Observation):
    """One of the numbers that were added to make the loss, at the steps it was looked at."""

    kind: ClassVar[str] = "loss-term"
    step: int | None
    where: Location | None
    expression: str
    name: str
    made: Location | None
    made_text: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    others: tuple[float, ...]


@fact
class FreshTarget(Observation):
    """Random numbers drawn for the loss alone: nothing else has read them."""

    kind: ClassVar[str] = "fresh-target"
    step: int | None
    where: Location | None
    expression: str
    op: str
    drawn: Location | None
    drawn_text: str
    shape: tuple[int, ...]


@fact
class WeightWithGradient(Observation):
    """A log-probability multiplied by the distance from a learned value that keeps its gradient."""

    kind: ClassVar[str] = "weight-with-gradient"
    step: int | None
    where: Location | None
    expression: str
    score: str
    weight: str
    made: Location | None
    made_text: str
    shape: tuple[int, ...]


@fact
class OwnAnswerAsTarget(Observation):
    """A loss whose target was chosen from the very answer that it judges; `chosen` is the line that chose."""

    kind: ClassVar[str] = "own-answer-as-target"
    step: int | None
    where: Location | None
    function: str
    names: tuple[str, str]
    chosen: Location | None
    chosen_text: str


@fact
class EstimateAsTarget(Observation):
    """A target `data + factor * estimate` with a gradient, estimated by the layer that gave the answer as well."""

    kind: ClassVar[str] = "estimate-as-target"
    step: int | None
    where: Location | None
    function: str
    target: str
    made: Location | None
    made_text: str


@fact
class SoftmaxOfOne(Observation):
    """A softmax over a dimension that held a single score at every look: its result is 1 whatever the score is.

    `samples` is the number of samples that the loss judges, 0 where it is not known; `picked_from` as in `ShareOfOne`.
    """

    kind: ClassVar[str] = "softmax-of-one"
    step: int | None
    where: Location
    expression: str
    shape: tuple[int, ...]
    dim: int
    looks: int
    samples: int = 0
    picked_from: int = 0


@fact
class ShareOfOne(Observation):
    """Numbers with a gradient, divided by their own `total` over a dimension that held one of them at every look.

    Of `picked_from` numbers the one was picked (by `topk`, for instance); 0 where there was one from the beginning.
    """

    kind: ClassVar[str] = "share-of-one"
    step: int | None
    where: Location
    expression: str
    total: str
    shape: tuple[int, ...]
    dim: int
    picked_from: int
    looks: int


@fact
class OnePositionForAll(Observation):
    """A single row of a table, its number the length of the sequence, that was added to every place of it."""

    kind: ClassVar[str] = "one-position-for-all"
    step: int | None
    where: Location | None
    expression: str
    row: int
    table: tuple[int, ...]
    to: tuple[int, ...]


@fact
class IdleTerm(Observation):
    """A loss function that was given nothing with a gradient, added to the loss; `added` is where.

    `passed` are the lines that what it compares came through without a gradient, latest first, back to those that took
    it off a tensor with one.
    """

    kind: ClassVar[str] = "idle-term"
    step: int | None
    where: Location
    expression: str
    function: str
    term: str
    added: Location
    value: float
    passed: tuple[Location, ...] = ()


@fact
class OneTargetForAll(Observation):
    """A table of all pairs of a batch, judged by the same column for every row."""

    kind: ClassVar[str] = "one-target-for-all"
    step: int | None
    where: Location | None
    names: tuple[str, str]
    size: int
    column: int
    table_made: Location | None
    table_text: str
    target_made: Location | None
    target_text: str


@fact
class IgnoredToken(Observation):
    """A token that the model reads in every batch and whose label is always left out; `where` made it the padding."""

    kind: ClassVar[str] = "ignored-token"
    token: int
    times: int
    batches: int
    where: Location | None
    text: str
    step: int | None = None


@fact
class WeightAfterReduction(Observation):
    """A mask, or a weight for each sample, that was multiplied with a loss which was one number already."""

    kind: ClassVar[str] = "weight-after-reduction"
    step: int | None
    where: Location
    expression: str
    weights: str
    shape: tuple[int, ...]
    is_mask: bool
    function: str
    reduced: Location
    reduced_text: str
    reduced_shape: tuple[int, ...]


@fact
class ThrownTerms(Observation):
    """A sum of losses that no backward pass held: its `name` was given to something else before anybody read it."""

    kind: ClassVar[str] = "thrown-terms"
    step: int | None
    name: str
    text: str
    where: Location
    added: Location


@fact
class OneAnswerForAll(Observation):
    """A model that answered a whole batch with one value, which the loss compared with a target for each sample.

    `folded` is the line that put all rows into one, `missing` an argument of its function that is None there, `called`
    the line that called this function. `graphs` says that the samples are graphs of a batch of PyG, `batch` names it.
    """

    kind: ClassVar[str] = "one-answer-for-all"
    step: int | None
    where: Location
    expression: str
    names: tuple[str, str]
    samples: int
    rows: int
    folded: Location
    folded_text: str
    missing: str = ""
    called: Location | None = None
    batch: str = ""


@fact
class ZeroLoss(Observation):
    """A loss of exactly 0 in an examined step, and the call that made the zero.

    `why` is "hinge" (all of `values` lie on the flat side, `highest` is the largest), "zeros" (everything was
    multiplied by 0) or "empty" (nothing was left to add up). `infinite` of the values are; `filled` is the line that
    put infinities there.
    """

    kind: ClassVar[str] = "zero-loss"
    step: int | None
    why: str
    op: str
    where: Location
    expression: str
    given: str
    values: int
    highest: float | None = None
    infinite: int = 0
    filled: Location | None = None
    filled_text: str = ""


@fact
class SumBesideMean(Observation):
    """A loss with one term that is summed over the batch and one that is its mean, at the steps that were looked at.

    `ratio` is how much more an element of the sum weighs than one of the mean; `baselines` are what the mean would be
    for the best answer that never changes.
    """

    kind: ClassVar[str] = "sum-beside-mean"
    step: int | None
    where: Location
    expression: str
    shape: tuple[int, ...]
    mean_at: Location
    mean_expression: str
    mean_shape: tuple[int, ...]
    ratio: float
    sums: tuple[float, ...]
    means: tuple[float, ...]
    baselines: tuple[float, ...]


@fact
class ShortcutChanged(Observation):
    """A sum of a block's input and its output, where an activation in the block had changed the input in place.

    `where` is the sum, `name` the input in it, and `share` the part of its numbers that the activation changed.
    """

    kind: ClassVar[str] = "shortcut-changed"
    step: int | None
    where: Location
    expression: str
    name: str
    op: str
    layer: str
    layer_built: Location | None
    changed_at: Location | None
    share: float


@fact
class UniformNoise(Observation):
    """A draw from 0 to 1, `blended` into data by weights whose squares add up to 1, that a loss asks for.

    `share` is the mean weight of the draw in the blend.
    """

    kind: ClassVar[str] = "uniform-noise"
    step: int | None
    where: Location
    expression: str
    function: str
    blended: Location | None
    blended_text: str
    compared: Location | None
    share: float
