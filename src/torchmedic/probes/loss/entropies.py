"""Which way a loss moves the entropy of a policy: up, as a bonus for trying things out does, or down."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import EntropyMoved
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.record import Recorder

_SUMS = frozenset(("add", "radd", "iadd", "sub", "rsub", "isub"))
_PASSED = TRANSPARENT | {"mean", "sum", "mul", "rmul", "imul", "div", "true_divide", "neg", "stack", "cat"}
_MOST_KEPT = 512
_MOST_CALLS = 40


class Entropies:
    """Remembers what `entropy` of a distribution gave, and asks for the gradient of the loss there."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: list[tuple[Call, torch.Tensor]] = []

    def close(self) -> None:
        self._kept.clear()

    def look(self, call: Call, result: Any) -> None:
        if not call.of_entropy or not isinstance(result, torch.Tensor) or not result.requires_grad:
            return
        last = self._kept[-1][0] if self._kept else None
        if last is not None and last.index == call.index - 1 and last.place == call.place:
            self._kept.pop()  # a step on the way to the same entropy
        if len(self._kept) < _MOST_KEPT:
            self._kept.append((call, result))

    def tell(self, trace: CallTrace, root: torch.Tensor) -> None:
        if not self._kept:
            return
        found = gradients_of(root, [entropy for _, entropy in self._kept])
        used = [(call, e, g) for (call, e), g in zip(self._kept, found, strict=True) if g is not None]
        added = _added(trace, used[0][0]) if used else None
        made = used[0][0].place if used else None
        if added is None or added.place is None or made is None:
            return
        self._recorder.observe(
            EntropyMoved(
                step=self._recorder.step,
                where=added.place.location(),
                expression=added.place.expression(),
                made=made.location(),
                made_text=made.expression(),
                is_taken_off=added.name in ("sub", "isub"),
                slope=sum(float(gradient.sum()) for _, _, gradient in used),
                least=min(float(gradient.min()) for _, _, gradient in used),
                entropy=sum(float(e.detach().mean()) for _, e, _ in used) / len(used),
            )
        )


def _added(trace: CallTrace, entropy: Call) -> Call | None:
    """The first sum or difference that an entropy goes into, on its way to the loss."""
    call = entropy
    for _ in range(_MOST_CALLS):
        readers = [reader for reader in trace.readers(call.index) if reader.name in _SUMS | _PASSED]
        following = next((reader for reader in readers if reader.is_users), None)
        if following is None or following.name in _SUMS:
            return following
        call = following
    return None


def gradients_of(root: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
    """The gradient of a loss by tensors it was computed from, on a graph that is kept."""
    # Not through the name that is watched: this is no call of the script's.
    follow = getattr(torch.autograd.grad, "__wrapped__", torch.autograd.grad)
    return tuple(follow((root,), tuple(inputs), retain_graph=True, allow_unused=True))
