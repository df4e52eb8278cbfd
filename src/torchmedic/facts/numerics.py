"""What was seen of numbers that stopped being finite."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation, TensorSummary
from torchmedic.facts.datacheck import ArraySeen
from torchmedic.facts.fact import fact
from torchmedic.facts.spreads import Histogram

# The `way` of a sick step that the script has left out by itself.
SKIPPED = "skipped by the script"


@fact
class Operand:
    """One input of an operation: how the user wrote it, what it is, and its value at the first bad position.

    `made_by` are the operations it came from in this step, nearest first; `made_at` is the line of the nearest.
    """

    name: str
    tensor: TensorSummary
    value: float | None = None
    made_by: tuple[str, ...] = ()
    made_at: Location | None = None


@fact
class OpFact:
    """An operation of the replayed step, as told to the rules.

    `op` is torch's name (`aten.div.Tensor`), `expression` what the user wrote, `node` the autograd node of a
    backward operation, `forward_op` the operation that node belongs to. `bad` counts non-finite results, `index`
    is the first of them, `library` the line inside a library when the user's line called into one.
    `forward_operands` are those of the forward operation of a backward one. `absorbed_by` is a later operation that
    throws bad elements away (`where`, `nan_to_num`, `masked_fill`, `index` by a mask): it hides them from the loss, not
    from backward.
    `written_at` is the user's line that writes the label which a loss ignores, where that is all there is.
    `is_own_backward` says that a `backward` which the user wrote asks for it, at `where`.
    """

    op: str
    phase: str
    where: Location | None = None
    library: Location | None = None
    expression: str = ""
    called: str = ""
    module: str = ""
    node: str = ""
    forward_op: str = ""
    operands: tuple[Operand, ...] = ()
    scalars: tuple[float, ...] = ()
    result: TensorSummary | None = None
    bad: int = 0
    index: tuple[int, ...] = ()
    makes_nan: bool = False
    forward_operands: tuple[Operand, ...] = ()
    absorbed_by: str = ""
    absorbed_at: Location | None = None
    written_at: Location | None = None
    is_own_backward: bool = False


@fact
class Amplifier:
    """The module that enlarged its input most in the sick step: magnitude before and after, its largest weight."""

    path: str
    type: str
    before: float
    after: float
    calls: int = 1
    weight: str = ""
    weight_norm: float = 0.0
    built: Location | None = None


@fact
class SummedUp(Observation):
    """A line of a network's first pass that sums up `terms` values into each of its own, in `calls` calls.

    `option` is the line that chose the sum (`aggr="add"`), where the sum itself is a library's; `chosen` its text.
    `largest` is the largest value that came out, `loss` the first loss.
    """

    kind: ClassVar[str] = "summed-up"
    step: int | None
    where: Location
    expression: str
    terms: int
    calls: int
    largest: float
    loss: float
    layer: str = ""
    option: Location | None = None
    chosen: str = ""


@fact
class SumTrial(Observation):
    """The first loss of the script with means in place of the sums that a line takes, `replaced` times."""

    kind: ClassVar[str] = "sum-trial"
    step: int | None
    line: str
    loss: float
    replaced: int


@fact
class Amplification(Observation):
    """The line that enlarged values most on their way through the first step, before anything was learned.

    `before` is the magnitude of what the line was given first, `after` of what it made last, in `calls` calls on the
    way of the largest values; `gain` is what the line added up to, `total` what the whole network did. `weight` is the
    parameter it multiplies by, `spread` the standard deviation of that, `written` the line that set its values and
    `how` by which function. `weights` counts the parameters of those calls.
    """

    kind: ClassVar[str] = "amplification"
    step: int | None
    where: Location | None
    expression: str
    calls: int
    before: float
    after: float
    gain: float
    total: float
    loss: float | None = None
    weight: str = ""
    shape: tuple[int, ...] = ()
    spread: float = 0.0
    written: Location | None = None
    how: str = ""
    weights: int = 1


@fact
class Source:
    """Where a bad value came in: a batch field, another tensor of the script, a parameter, a buffer.

    `rows` are the first bad rows, `columns` the bad positions in the last dimension, `sample` the index in the
    data set of the first bad row where a DataLoader told it. `histogram` is of the bad column where there is one only,
    else of all values; `examples` are some bad rows as text, `checked` is what the data check-up sees of the field.
    """

    origin: str
    name: str
    tensor: TensorSummary
    rows: tuple[int, ...] = ()
    row_count: int = 0
    columns: tuple[int, ...] = ()
    column_count: int = 0
    sample: int | None = None
    dataset: str = ""
    is_label: bool = False
    value: str = ""
    file: str = ""
    histogram: Histogram | None = None
    examples: tuple[str, ...] = ()
    checked: ArraySeen | None = None


@fact
class SickStep(Observation):
    """A step with non-finite numbers: what was not finite, and how it was run again.

    `backwards` counts the calls of `backward` up to this one: the clock of a loop that updates weights `by_hand`.
    Its update was withheld unless it `was_applied`, because the user wished that or nobody could prevent it.
    """

    kind: ClassVar[str] = "sick-step"
    step: int | None
    what: str
    loss: float | None = None
    bad_parameters: tuple[str, ...] = ()
    parameters: int = 0
    bad_buffers: tuple[str, ...] = ()
    backward_at: Location | None = None
    reproduced: bool = False
    way: str = ""
    seconds: float = 0.0
    weights_saved: str = ""
    scale: float | None = None
    learning_rate: str = ""
    optimizer: str = ""
    optimizer_built: Location | None = None
    backwards: int = 0
    by_hand: bool = False
    was_applied: bool = False


@fact
class SkippedUpdates(Observation):
    """How many steps the script left out by itself because their loss or gradients were bad, and how many it made.

    `step` is the first of those left out, `what` was bad in it: "loss" (it got no `backward`) or "gradient".
    """

    kind: ClassVar[str] = "skipped-updates"
    step: int | None
    what: str
    skipped: int
    updates: int


@fact
class Growth:
    """How a norm went over the last steps: oldest first."""

    name: str
    values: tuple[float, ...]


@fact
class Origin(Observation):
    """The first harmful operation of the sick step, and the way from it to the loss.

    `op` made non-finite from finite (or read a bad `source`). `turn` is the operation that made NaN out of
    infinities, where that is another one. `placed` says that the infinity was put there on purpose (a mask).
    `samples` are the data set's indices of this rank's batch.
    """

    kind: ClassVar[str] = "origin"
    step: int | None
    op: OpFact
    turn: OpFact | None = None
    placed: OpFact | None = None
    chain: tuple[OpFact, ...] = ()
    source: Source | None = None
    samples: tuple[int, ...] = ()
    growth: tuple[Growth, ...] = ()
    losses: tuple[float, ...] = ()
    learning_rate: float | None = None
    optimizer: str = ""
    optimizer_built: Location | None = None
    autocast: str = ""
    amplifier: Amplifier | None = None
    others: tuple[Location, ...] = ()


@fact
class Trial(Observation):
    """The sick step run again with one thing changed."""

    kind: ClassVar[str] = "trial"
    step: int | None
    suspect: str
    change: str
    helps: bool
    loss: float | None = None
    hides: bool = False
    is_cure: bool = False


@fact
class Birth(Observation):
    """A line of the user's preparation after which a value was non-finite that was not before.

    `helped` is a change of that line with which its value is finite, tried on the same operands.
    """

    kind: ClassVar[str] = "birth"
    where: Location
    variable: str
    holder: str
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    bad: int = 0
    nan: int = 0
    total: int = 0
    expression: str = ""
    operator: str = ""
    operands: tuple[Operand, ...] = ()
    zero_at: tuple[str, ...] = ()
    was_read: bool = False
    was_handed: bool = False
    groups: tuple[str, ...] = ()
    helped: str = ""
    step: int | None = None


@fact
class ExponentialSeen(Observation):
    """The line of a step that exploded whose exponentials made the largest numbers, in `calls` calls.

    `reached` is the largest argument, `made` the largest result; `powers` the powers of ten of all results together.
    """

    kind: ClassVar[str] = "exponential-seen"
    step: int | None
    where: Location
    op: str
    expression: str
    argument: str
    reached: float
    made: float
    calls: int
    powers: float
    loss: float
