"""Facts about the graph of a step: where it ends too early, and what is built and left."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class GraphCut(Observation):
    """Parameters of an optimizer that never had a gradient although the loss was computed from them.

    `how` is "detach", "data", "no_grad", "checkpoint", "library", "integer", "discrete", "item", "numpy", "tolist",
    "tensor" (`torch.tensor` of a list of tensors), "copy" (the same of one tensor),
    "zero" (differentiable, with derivative 0 everywhere), "gradient" (what `torch.autograd.grad` returned without
    `create_graph`), "cancelled" (added and subtracted again, as in `x + (q - x)`), "own-backward" (a `backward` of the
    user's own that handed on zeros) or "straight-through" (the constant side of an estimator, which is at `read` where
    `where` is the line that holds its result against its own input).
    `rebuilt` is the line that made a new leaf of the loss.
    `whole_term`: the parameters do get a gradient, but a whole term of the loss is cut off. `strayed` are the
    parameters that had the gradient of that term instead, and lost it before any optimizer used it.
    `within_term`: not the whole term, but one summand inside it, as in the residual of a differential equation.
    """

    kind: ClassVar[str] = "graph-cut"
    how: str
    op: str
    parameters: tuple[str, ...]
    parameter_count: int = 0
    where: Location | None = None
    expression: str = ""
    callee: str = ""
    read: Location | None = None
    rebuilt: Location | None = None
    backward: Location | None = None
    optimizer_built: Location | None = None
    loss_is_leaf: bool = False
    whole_term: bool = False
    strayed: tuple[str, ...] = ()
    within_term: bool = False
    fresh: bool = True
    watched_steps: int = 0
    step: int | None = None


@fact
class UnusedTotal(Observation):
    """A sum was built on the tensor from which backward ran, and went nowhere; some parameters got no gradient."""

    kind: ClassVar[str] = "unused-total"
    parameters: tuple[str, ...]
    parameter_count: int = 0
    total: Location | None = None
    expression: str = ""
    backward: Location | None = None
    step: int | None = None
