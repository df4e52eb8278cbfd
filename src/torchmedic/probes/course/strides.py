"""The strides: whether neighbouring gradients agree, and whether an update ends below where it began."""

from __future__ import annotations

import ast
import weakref
from typing import Any, NamedTuple

import torch

from torchmedic.facts import Location, StridesSeen
from torchmedic.journal import rates_of
from torchmedic.late import late_dataclass
from torchmedic.probes.course.pulse import telling_parameters
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.objects.letters import Letter, send
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder

_EVERY = 8  # updates from one look to the next, at first
_EVERY_ON_CARD = 32  # there a step may take a millisecond, of which a look would take a quarter
_SHIFT = 5  # from one look to the next, within what `_EVERY` leaves: it meets every remainder in turn
_MOST_LOOKS = 96
_MOST_TENSORS = 8
_MOST_ELEMENTS = 4096  # of one of them


class _Look(NamedTuple):
    """One update: its slope, its stride and the next slope, as numbers."""

    step: int
    rate: float
    agree: float
    lasting: float
    before: float
    after: float
    gradient: float
    stride: float
    fall: float


@late_dataclass()
class _Open:
    """An update that is being looked at; `change` is None until it has been made."""

    step: int
    rate: float
    gradient: torch.Tensor
    weights: torch.Tensor
    change: torch.Tensor | None = None


class Strides(Probe):
    """Looks at pairs of neighbouring steps of the first optimizer: rarely, and less often the longer the run.

    The numbers of a look are asked for at once and read at the next one, so that nobody waits for a device.
    """

    name = "strides"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._optimizer: weakref.ref[Any] | None = None
        self._made: tuple[str, Any, float | None] = ("", None, None)
        self._chosen: list[weakref.ref[torch.Tensor]] = []
        self._share, self._elements = 1.0, 0
        self._every = _EVERY
        self._looks: list[_Look] = []
        self._open: _Open | None = None
        self._last: torch.Tensor | None = None
        self._sent: tuple[int, float, Letter] | None = None

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held or not self._is_followed(optimizer):
            return
        if any(map(callable, (*args, *kwargs.values()))):
            self.recorder.rest(self)  # the gradients are yet to be worked out, once or more
            return
        with torch.no_grad():
            if self._open is not None:
                self._close(self._open)
            elif self.recorder.step + 1 == self._next_after(self.recorder.step):
                self._begin(optimizer)

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.clock_is_held or not self._is_followed(optimizer):
            return
        if self._open is None:
            self.recorder.rest(self, self._next_after(self.recorder.step) - 1)
            return
        with torch.no_grad():
            now = _sample(self._weights())
            self._open.change = None if now is None else now - self._open.weights

    def on_finish(self) -> None:
        self._read()
        if not self._looks:
            return
        name, built, momentum = self._made
        steps, rates, agree, lasting, before, after, gradients, strides, falls = zip(*self._looks, strict=True)
        self.recorder.observe(
            StridesSeen(
                step=self.recorder.step,
                optimizer=name,
                built=built,
                momentum=momentum,
                elements=self._elements,
                steps=steps,
                rates=rates,
                agree=agree,
                lasting=lasting,
                before=before,
                after=after,
                gradients=gradients,
                strides=strides,
                falls=falls,
                rate_written=_rate_written() if min(rates) < max(rates) else None,
            )
        )

    def _next_after(self, step: int) -> int:
        """Once in so many steps, but not at equal distances: a loss may swing in time with them."""
        begins = (step // self._every, step // self._every + 1)
        return min(at for k in begins if (at := k * self._every + _SHIFT * k % self._every) > step)

    def _is_followed(self, optimizer: Any) -> bool:
        if self._optimizer is None:
            self._follow(optimizer)
        return self._optimizer is not None and self._optimizer() is optimizer

    def _follow(self, optimizer: Any) -> None:
        self._optimizer = weakref.ref(optimizer)
        self._made = (type(optimizer).__name__, self._optimizers.built_at(optimizer), _momentum(optimizer))
        found = [p for p in telling_parameters(optimizer) if type(p) is torch.nn.Parameter or type(p) is torch.Tensor]
        found = [p for p in found if p.device == found[0].device]
        self._every = _EVERY_ON_CARD if found and found[0].is_cuda else _EVERY
        chosen = found[:: max(1, -(-len(found) // _MOST_TENSORS))]
        self._chosen = [weakref.ref(p) for p in chosen]
        self._elements = sum(_kept(p) for p in chosen)
        self._share = self._elements / max(1, sum(p.numel() for p in found))

    def _weights(self) -> list[torch.Tensor]:
        alive = [p for p in (reference() for reference in self._chosen) if p is not None]
        return [p.detach() for p in alive] if len(alive) == len(self._chosen) else []

    def _gradient(self) -> torch.Tensor | None:
        alive = [p for p in (reference() for reference in self._chosen) if p is not None]
        found = [p.grad for p in alive if p.grad is not None and p.grad.layout == torch.strided]
        return _sample([g.detach() for g in found]) if found and len(found) == len(self._chosen) else None

    def _begin(self, optimizer: Any) -> None:
        gradient, weights = self._gradient(), _sample(self._weights())
        rate = rates_of(optimizer)[1]
        if gradient is not None and weights is not None and rate is not None:
            self._open = _Open(self.recorder.step + 1, rate, gradient, weights)

    def _close(self, look: _Open) -> None:
        self._open = None
        following, change = self._gradient(), look.change
        if following is None or change is None or following.shape != look.gradient.shape:
            return
        self._read()
        last = following if self._last is None or self._last.shape != following.shape else self._last
        sizes = torch._foreach_norm([look.gradient, change, following, look.weights, last])
        dots = [*(look.gradient.dot(other) for other in (following, last, change)), following.dot(change)]
        self._last = following
        self._sent = (look.step, look.rate, send([*sizes, *dots]))

    def _read(self) -> None:
        sent, self._sent = self._sent, None
        if sent is None:
            return
        gradient, change, following, weights, last, agree, lasting, before, after = sent[2].read()
        if not all(0 < size < float("inf") for size in (gradient, change, following, weights, last)):
            return
        self._looks.append(
            _Look(
                step=sent[0],
                rate=sent[1],
                agree=agree / (gradient * following),
                lasting=lasting / (gradient * last),
                before=before / (gradient * change),
                after=after / (change * following),
                gradient=gradient,
                stride=change / weights,
                fall=-before / self._share,
            )
        )
        if len(self._looks) >= _MOST_LOOKS:
            self._every *= 2
            self._looks = self._looks[1::2]


def _kept(tensor: torch.Tensor) -> int:
    return -(-tensor.numel() // _pace(tensor))


def _pace(tensor: torch.Tensor) -> int:
    """Every how many elements of a tensor one is kept."""
    return max(1, -(-tensor.numel() // _MOST_ELEMENTS))


def _sample(tensors: list[torch.Tensor]) -> torch.Tensor | None:
    """Some of the numbers of each tensor, in one vector of their own."""
    if not tensors:
        return None
    flat = [t.reshape(-1) for t in tensors]
    return torch.cat([t if t.numel() <= _MOST_ELEMENTS else t[:: _pace(t)] for t in flat]).float()


def _momentum(optimizer: Any) -> float | None:
    """The share of the last direction that an update keeps."""
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    betas, momentum = group.get("betas"), group.get("momentum")
    kept = betas[0] if isinstance(betas, (tuple, list)) and betas else momentum
    return float(kept) if isinstance(kept, (int, float)) else None


def _rate_written() -> Location | None:
    """The line of the script that sets `group["lr"]`, where there is but one."""
    found = {
        (file, node.lineno)
        for file, node in user_nodes()
        if isinstance(node, (ast.Assign, ast.AugAssign))
        and any(map(_is_rate, node.targets if isinstance(node, ast.Assign) else [node.target]))
    }
    return location(*found.pop()) if len(found) == 1 else None


def _is_rate(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr"
