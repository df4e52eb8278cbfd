"""What a step needs to begin again: random states, buffers, loop-carried names, the batch it was handed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any

import torch

from torchmedic.late import late_dataclass
from torchmedic.probes.events.optimizers import parameters_of
from torchmedic.probes.source.loops import Loop
from torchmedic.replay.finite import bad_tensors
from torchmedic.replay.generators import RandomStates
from torchmedic.replay.loops import read_names


@late_dataclass(frozen=True)
class BufferSlot:
    """The place of a buffer in its module, and the tensor that was in it."""

    owner: dict[str, Any]
    name: str
    tensor: torch.Tensor

    @property
    def is_rebound(self) -> bool:
        """Whether the module holds another tensor by now, as after `self.mean = 0.9 * self.mean + …`."""
        return self.owner.get(self.name) is not self.tensor


class BufferCopies:
    """Copies of module buffers, refreshed in one call per device and type."""

    def __init__(self) -> None:
        self._slots: list[BufferSlot] = []
        self._groups: list[tuple[list[torch.Tensor], list[torch.Tensor]]] = []

    def refresh(self, slots: list[BufferSlot]) -> None:
        if slots is not self._slots:
            self._slots = slots
            buffers = [slot.tensor.detach() for slot in slots]
            kinds = {(b.device, b.dtype) for b in buffers}
            groups = [[b for b in buffers if (b.device, b.dtype) == kind] for kind in kinds]
            self._groups = [(group, [b.clone() for b in group]) for group in groups]
            return
        for live, copies in self._groups:
            torch._foreach_copy_(copies, live)

    def restore(self) -> None:
        for slot in self._slots:
            slot.owner[slot.name] = slot.tensor
        for live, copies in self._groups:
            torch._foreach_copy_(live, copies)


@late_dataclass(frozen=True)
class Handed:
    """A batch that a DataLoader handed out, with the sampler's indices and the data set's class.

    `iterator` leads to the one that fetched it, as long as the script keeps that.
    """

    batch: Any
    indices: Any = None
    dataset: str = ""
    iterator: Callable[[], Any] | None = None


@late_dataclass()
class Beginning:
    """The state at the start of the current step, as far as events let us see it.

    `handed` are the last batches, newest last: frameworks fetch one ahead of the step they run. `fetched` are those of
    this step alone, to be handed out again to a body that fetches by itself.
    """

    random: RandomStates
    at_zero_grad: RandomStates | None = None
    names: dict[str, Any] = field(default_factory=dict)
    handed: tuple[Handed, ...] = ()
    fetched: list[Handed] = field(default_factory=list)

    def candidates(self) -> list[RandomStates]:
        """Random states to begin from, most likely first."""
        return [self.random] + ([self.at_zero_grad] if self.at_zero_grad is not None else [])


def carried_values(frame: FrameType, loop: Loop) -> dict[str, Any]:
    """The values of the names that the loop's body reads before it binds them.

    A tensor with a graph is taken without it: that graph was freed by the backward just done, so the script itself
    cannot go on with it either.
    """
    if not loop.kept:
        return {}
    return {name: _cut_off(value) for name, value in read_names(frame, loop.kept).items()}


def _cut_off(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach() if value.grad_fn is not None else value
    if type(value) in (tuple, list):
        return type(value)(_cut_off(item) for item in value)
    return value


class Withheld:
    """Parameters and optimizer state as they were before a step, to be put back bit for bit after it."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._parameters = parameters_of(optimizer)
        self._values = [p.detach().clone() for p in self._parameters]
        self._state = {p: _copied(state) for p, state in optimizer.state.items()}

    def went_bad(self) -> bool:
        """Whether the parameters, or the state of the optimizer, hold NaN or infinity now."""
        state = [t for values in self._optimizer.state.values() for t in _tensors(values)]
        return bool(bad_tensors([p.detach() for p in self._parameters] + state))

    def put_back(self) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._parameters, self._values, strict=True):
                parameter.copy_(value)
        self._optimizer.state.clear()
        self._optimizer.state.update(self._state)


def _tensors(state: Any) -> list[torch.Tensor]:
    values = state.values() if isinstance(state, dict) else ()
    return [v for v in values if isinstance(v, torch.Tensor) and v.is_floating_point()]


def _copied(state: Any) -> Any:
    if isinstance(state, torch.Tensor):
        return state.detach().clone()
    if isinstance(state, dict):
        return {key: _copied(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(_copied(value) for value in state)
    return state
