"""Whether a gradient that a step has used goes into the next step as well, or is written anew in between."""

from __future__ import annotations

import weakref
from dataclasses import field

import torch

from torchmedic.late import late_dataclass
from torchmedic.probes.graph.graph_walk import graph, is_leaf_node

_MOST_VALUES = 512
_ALIKE = 0.5  # what is clipped value by value is still like what it was

Marks = list[weakref.ref[torch.Tensor]]
Sample = torch.Tensor | None


@late_dataclass()
class Carried:
    """Samples of the gradients of a few parameters: as a step left them, and around the backward passes since.

    A copy of the weights in float32 is no leaf of any graph: backward adds nothing to its gradient, a line of the
    script writes it. Gradients that are written anew between backward and the step are not what backward has left.
    """

    used: list[Sample] = field(default_factory=list)
    before: list[Sample] = field(default_factory=list)
    after: list[Sample] = field(default_factory=list)
    are_leaves: bool = False

    def note_before(self, marks: Marks, roots: tuple[torch.Tensor, ...]) -> None:
        if not self.used:
            return
        self.before = self.before or _samples(marks)
        self.are_leaves = self.are_leaves or _is_behind(roots, marks)

    def note_after(self, marks: Marks) -> None:
        self.after = _samples(marks) if self.before else []

    def note_step(self, marks: Marks) -> None:
        self.used, self.before, self.after = _samples(marks), [], []

    def is_used_again(self, marks: Marks) -> bool:
        """Whether backward has added to what the last step used, and the sum is what the next step is given."""
        if not (self.used and self.before and self.after and self.are_leaves):
            return False
        rows = zip(self.used, self.before, self.after, _samples(marks), strict=True)
        kept = [(old, new, now) for used, old, new, now in rows if _is_added(used, old, new) and now is not None]
        if not kept:
            return False
        old, new, now = (torch.cat(list(each)) for each in zip(*kept, strict=True))
        return torch.equal(new, now) or _likeness(now, new) >= max(_ALIKE, _likeness(now, new - old))


def _samples(marks: Marks) -> list[Sample]:
    return [_sample(mark()) for mark in marks]


def _sample(parameter: torch.Tensor | None) -> Sample:
    gradient = parameter.grad if parameter is not None else None
    if gradient is None:
        return None
    values: torch.Tensor = getattr(gradient, "_local_tensor", gradient).detach()
    # The sum of two sparse gradients has twice the rows: no value has its old place.
    flat = (values.to_dense() if values.layout != torch.strided else values).flatten()
    return flat[:: max(1, flat.numel() // _MOST_VALUES)].double().cpu()


def _is_added(used: Sample, old: Sample, new: Sample) -> bool:
    if used is None or old is None or new is None or not torch.equal(used, old):
        return False
    return bool(old.count_nonzero()) and old.shape == new.shape and not torch.equal(old, new)


def _likeness(one: torch.Tensor, other: torch.Tensor) -> float:
    size = float(one.norm() * other.norm())
    return float(one @ other) / size if size > 0 else 0.0


def _is_behind(roots: tuple[torch.Tensor, ...], marks: Marks) -> bool:
    wanted = {id(tensor) for mark in marks if (tensor := mark()) is not None}
    return any(is_leaf_node(node) and id(node.variable) in wanted for _, node in graph(roots))
