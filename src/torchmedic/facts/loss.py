"""What was seen of the loss: what it was given, who made that, and how the operands met."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation, TensorSummary
from torchmedic.facts.fact import fact


@fact
class Producer:
    """The call that made a tensor. `layer` and `layer_built` are set where it ran inside one of torch's layers."""

    op: str
    where: Location | None = None
    expression: str = ""
    dim: int | None = None
    layer: str = ""
    layer_built: Location | None = None
    direct: bool = True

    @property
    def to_edit(self) -> Location | None:
        """The line to edit: the layer's construction where a container called it, else the call."""
        return self.where if self.direct or self.layer_built is None else self.layer_built


@fact
class LossCall(Observation):
    """One call of a loss function (or a difference that becomes a loss, `function` is `-`), with its target.

    `sums_to_one` are the dimensions along which the values given (or their exponentials, when `is_log`) sum to 1.
    `counts` are the classes of an index target; `outside` is the share of the targets that the function which made
    `given` cannot reach, `reach` its range. `target_picked` says that the target is part of a tensor made before.
    """

    kind: ClassVar[str] = "loss-call"
    step: int | None
    function: str
    where: Location | None
    expression: str
    names: tuple[str, str]
    given: TensorSummary
    target: TensorSummary
    loss: float | None = None
    options: dict[str, str] = field(default_factory=dict)
    producer: Producer | None = None
    target_producer: Producer | None = None
    target_picked: bool = False
    sums_to_one: tuple[int, ...] = ()
    is_log: bool = False
    class_dim: int = 1
    counts: dict[str, int] = field(default_factory=dict)
    target_rows: tuple[float, float] | None = None
    ignored: float = 0.0
    outside: float = 0.0
    reach: tuple[float, float] | None = None
    baseline: float | None = None
    given_spread: float | None = None
    scrambled: Producer | None = None
    scrambled_from: tuple[int, ...] = ()


@fact
class AccidentalBroadcast(Observation):
    """Two tensors with the same elements per sample that met in shapes which made every pair."""

    kind: ClassVar[str] = "accidental-broadcast"
    step: int | None
    op: str
    where: Location | None
    expression: str
    names: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    result: tuple[int, ...]
    in_loss_function: bool = False
    first_depends: bool = True


@fact
class HandDistance(Observation):
    """A difference of answers and targets that becomes a loss, at a line whose answers were enormous at first.

    `distance` is the mean of its squares, `baseline` what it is for the best answer that never changes.
    """

    kind: ClassVar[str] = "hand-distance"
    step: int | None
    where: Location
    expression: str
    distance: float
    baseline: float


@fact
class LossSummed(Observation):
    """A loss that grows with the batch: a call sums `terms` values, in `rows` rows, and no mean is taken after it.

    `factor` is what the sum is multiplied by on its way to the loss; `built` the line of a loss function that sums.
    """

    kind: ClassVar[str] = "loss-summed"
    step: int | None
    where: Location
    expression: str
    rows: int
    terms: int
    factor: float = 1.0
    built: Location | None = None
    layer: str = ""


@fact
class TargetChanged(Observation):
    """The target of a loss is the tensor that the model was given, and a line has written into it in place.

    `written` is that line, which writes into `name`; `other` is another name for the same tensor, since `bound`.
    """

    kind: ClassVar[str] = "target-changed"
    step: int | None
    function: str
    names: tuple[str, str]
    where: Location | None
    name: str
    other: str
    written: Location
    written_text: str
    bound: Location | None = None
    bound_text: str = ""
