"""What was seen of the wiring of a training: leaves, optimizers, cuts, cycles, modes, checkpoints."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class StrayLeaf(Observation):
    """A tensor that the gradient reached, that no optimizer ever held, and that kept its value.

    `place` is "hung" (reachable from a module by an attribute that registers nothing), "module" (a registered
    parameter), "anew" (another object in every step) or "variable" (held by nothing but a name).
    `behind` is the attribute that holds a result computed once from the leaf, instead of the leaf itself.
    `siblings_with` is where the optimizer was built that holds most of the same model. `called_at` is the line that
    led to its birth, in the function that had built an optimizer before. `in_forward` says that a forward pass made it,
    `thawed` that it needed no gradient when training began.
    """

    kind: ClassVar[str] = "stray-leaf"
    name: str
    place: str
    shape: tuple[int, ...] = ()
    is_parameter: bool = True
    owner: str = ""
    attribute: str = ""
    container: str = ""
    layer: str = ""
    behind: str = ""
    hung: Location | None = None
    born: Location | None = None
    called_at: Location | None = None
    replaced: Location | None = None
    after_optimizer: bool = False
    in_forward: bool = False
    fresh: bool = True
    thawed: bool = False
    in_root_with_optimized: bool = False
    siblings_with: Location | None = None
    steps: int = 0
    step: int | None = None


@fact
class OptimizerSeen(Observation):
    """An optimizer that stepped. `orphans` of its parameters have no living module, `reached` ones were in a graph.

    `looked_at` of its steps came right after a look at the graph; like `reached`, since parameters were last born.

    `copied`: all of them are orphans that are equal to parameters of a living module.
    `defined` is the update itself where the user wrote the optimizer. `given` is the line that made the list of its
    parameters, where that is another one; `twin` is where an optimizer of the very same parameters was built.
    """

    kind: ClassVar[str] = "optimizer-seen"
    type: str
    built: Location | None = None
    stepped: Location | None = None
    defined: Location | None = None
    steps: int = 0
    parameters: int = 0
    plain_tensors: int = 0
    orphans: int = 0
    orphan_shapes: tuple[tuple[int, ...], ...] = ()
    copied: bool = False
    looked_at: int = 0
    reached: int = 0
    names: tuple[str, ...] = ()
    given: Location | None = None
    twin: Location | None = None
    step: int | None = None


@fact
class FrozenLastLayer(Observation):
    """The last layer before the loss has never been trained or loaded, and does not learn."""

    kind: ClassVar[str] = "frozen-last-layer"
    parameters: tuple[str, ...]
    layer: str
    frozen_at: tuple[Location, ...] = ()
    trainable: tuple[str, ...] = ()
    frozen_count: int = 0
    optimizer_built: Location | None = None
    step: int | None = None


@fact
class GradientCycles(Observation):
    """How the gradients of one optimizer were filled, cleared and used between its steps.

    A cycle is `stale` when nothing cleared what the step before had used, and `emptied` when the gradients that
    backward had filled were gone when `step` came.
    """

    kind: ClassVar[str] = "gradient-cycles"
    optimizer: str
    built: Location | None = None
    cycles: int = 0
    stale: int = 0
    emptied: int = 0
    cleared: int = 0
    doubled: int = 0
    doubled_with: str = ""
    doubled_names: tuple[str, ...] = ()
    longest_stale: int = 0
    norm_first: float | None = None
    norm_last: float | None = None
    backward: Location | None = None
    zero_grad: Location | None = None
    stepped: Location | None = None
    finished: bool = True
    step: int | None = None


@fact
class NeverStepped(Observation):
    """Backward ran many times, an optimizer was there, and its parameters never moved because it never stepped."""

    kind: ClassVar[str] = "never-stepped"
    optimizer: str
    backwards: int
    built: Location | None = None
    backward: Location | None = None
    zero_grad: Location | None = None
    names: tuple[str, ...] = ()
    step: int | None = None


@fact
class NeverBackward(Observation):
    """An optimizer stepped, and no gradient was computed in the whole run.

    `training_step` is the user's function that hands a framework the loss; `returns_value` whether it returns anything.
    """

    kind: ClassVar[str] = "never-backward"
    optimizer: str
    steps: int
    built: Location | None = None
    stepped: Location | None = None
    training_step: Location | None = None
    returns_value: bool = False
    step: int | None = None


@fact
class ScaledGradientUse(Observation):
    """What was done with gradients that were still multiplied by a loss scale, or only partly so.

    `act` is "clip", "step" or "mixed" (one backward scaled, another not, before the same step).
    """

    kind: ClassVar[str] = "scaled-gradient-use"
    act: str
    times: int
    scale: float
    function: str = ""
    limit: float | None = None
    norm: float | None = None
    where: Location | None = None
    scaled_backward: Location | None = None
    stepped: Location | None = None
    scaler_built: Location | None = None
    unscale_seen: bool = False
    step: int | None = None


@fact
class TrainedInEval(Observation):
    """Training steps during which the mode-dependent layers of a trained model were in evaluation mode.

    `unmeasured` of them normalise by statistics that no batch has ever gone into.
    """

    kind: ClassVar[str] = "trained-in-eval"
    model: str
    layers: dict[str, int]
    steps_in_eval: int
    steps_seen: int
    first_step: int = 0
    eval_called: Location | None = None
    eval_calls: int = 0
    train_called: Location | None = None
    train_calls: int = 0
    evaluated: bool = False
    unmeasured: int = 0
    stepped: Location | None = None
    step: int | None = None


@fact
class NormsBackInTraining(Observation):
    """BatchNorm layers on which `eval()` was called one by one, and which were in training mode at every step seen."""

    kind: ClassVar[str] = "norms-back-in-training"
    norms: int
    steps: int
    where: Location
    train_called: Location | None = None
    step: int | None = None


@fact
class FrozenStatistics(Observation):
    """A BatchNorm layer in a part whose weights are all frozen, which trained on: how far its running mean has moved.

    `shift` is in standard deviations as they were `before` so many batches. `train_called` is the last call of
    `train()`.
    """

    kind: ClassVar[str] = "frozen-statistics"
    part: str
    layer: str
    shift: float
    batches: int
    before: int
    train_called: Location | None = None
    step: int | None = None


@fact
class EvaluatedInTrain(Observation):
    """Passes without gradient through a trained model whose dropout or BatchNorm was in training mode.

    `own_train` is a line of the model's own `train` that calls torch's without the mode it was given, `train_called` a
    call of `train()` in the very function that evaluates. `loaded` is where a model got its weights that no optimizer
    of this run trains.
    """

    kind: ClassVar[str] = "evaluated-in-train"
    model: str
    layers: dict[str, int]
    phases: int
    steps: int
    where: Location | None = None
    block: Location | None = None
    block_text: str = ""
    eval_calls: int = 0
    own_train: Location | None = None
    train_called: Location | None = None
    loaded: Location | None = None
    step: int | None = None


@fact
class SamplerEpochNeverSet(Observation):
    """A shuffling `DistributedSampler` that was iterated several times with the same epoch, hence in the same order.

    `loop` is the loop around the one over its batches, and `counter` what that counts.
    """

    kind: ClassVar[str] = "sampler-epoch-never-set"
    iterations: int
    replicas: int
    where: Location | None = None
    built: Location | None = None
    loop: Location | None = None
    counter: str = ""
    step: int | None = None


@fact
class FunctionalDropout(Observation):
    """A call of `F.dropout` that does not pass `training`, in a class whose instances were switched to evaluation."""

    kind: ClassVar[str] = "functional-dropout"
    where: Location
    function: str
    owner: str
    eval_called: Location | None = None
    step: int | None = None


@fact
class BorrowedWeight(Observation):
    """A plain tensor on a module, taken out of a layer built for nothing else: `nn.Linear(8, 8).weight.data`."""

    kind: ClassVar[str] = "borrowed-weight"
    owner: str
    attribute: str
    shape: tuple[int, ...]
    hung: Location
    optimizer_built: Location | None = None
    step: int | None = None


@fact
class SecondName(Observation):
    """A model that one function calls by two names, of which `copy` says that it should be another model."""

    kind: ClassVar[str] = "second-name"
    step: int
    copy: str
    original: str
    where: Location | None
    called: Location


@fact
class StateLoaded(Observation):
    """A call of `load_state_dict`: what matched, and whose memory the loaded tensors were.

    `own` counts given tensors that are the very memory of the module they were loaded into. `renamed` pairs skipped
    keys with missing ones of the same shape and last word, where these pairs leave none of the missing ones over.
    `between` is how the user wrote the taker and the giver of a model's own tensors, `aliased` the line that made one
    of them the other.
    """

    kind: ClassVar[str] = "state-loaded"
    model: str
    where: Location | None = None
    strict: bool = True
    given: int = 0
    wanted: int = 0
    matched: int = 0
    own: int = 0
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    prefix_given: str = ""
    prefix_wanted: str = ""
    matched_without_prefix: int = 0
    renamed: tuple[tuple[str, str], ...] = ()
    kept_at: Location | None = None
    kept_step: int | None = None
    steps_since: int = 0
    wanted_names: tuple[str, ...] = ()
    file_loaded: Location | None = None
    between: tuple[str, str] | None = None
    aliased: Location | None = None
    step: int | None = None


@fact
class SampledWithoutGradient(Observation):
    """`sample()` of a distribution whose parameters need a gradient, where `rsample()` exists and nothing scores it."""

    kind: ClassVar[str] = "sampled-without-gradient"
    distribution: str
    where: Location
    times: int
    parameters: tuple[str, ...] = ()
    step: int | None = None


@fact
class RoundedAway(Observation):
    """Weights in a short floating-point format of which an update changed next to nothing."""

    kind: ClassVar[str] = "rounded-away"
    name: str
    dtype: str
    unchanged: float
    looked_at: int
    typical_weight: float
    spacing: float
    lr: float
    born: Location | None = None
    optimizer_built: Location | None = None
    cast: Location | None = None
    parameters: int = 1
    step: int | None = None


@fact
class ReusedGraph(Observation):
    """A tensor that was computed once from `parameters`, which are trained, and takes part in every loss since.

    `where` is the line that computed it; `step` is the first whose loss met the same graph again.
    """

    kind: ClassVar[str] = "reused-graph"
    step: int
    name: str
    shape: tuple[int, ...]
    operation: str
    parameters: tuple[str, ...]
    parameter_count: int
    where: Location
    backward: Location | None = None


@fact
class ReversedTwice(Observation):
    """A function that hands on its input and negates in `backward`: by what the gradient was multiplied at each look.

    `settings` are the numbers that its `backward` multiplies by, at the last look.
    """

    kind: ClassVar[str] = "reversed-twice"
    function: str
    where: Location
    factors: tuple[float, ...]
    settings: dict[str, float]
    step: int | None = None
