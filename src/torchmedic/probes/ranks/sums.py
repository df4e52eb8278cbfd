"""Gradients that a script exchanges by hand or in a hook: whether the update gets their mean or their sum."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import _disable_current_modes

from torchmedic.facts import GradientExchange, Location
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import is_user_file, location, user_location
from torchmedic.record import Probe, Recorder, shielded

_CLOSE_STEPS = 6
_MOST_PARAMETERS = 8
_MOST_VALUES = 4096
_MEAN = 1  # how torch counts the reductions of its losses
_DEEP = 4
_UNDIVIDED = 1.5  # a loss for one of two ranks has a factor of a half


class RankSums(Probe):
    """Compares a few gradients after backward and before the update, in the first steps alone."""

    name = "rank-sums"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._followed: dict[str, weakref.ref[torch.Tensor]] = {}
        self._is_over = False
        self._patches = Patches()
        self._clear()
        self._watch_hooks()

    def remove(self) -> None:
        self._is_over = True
        self._followed.clear()
        self._patches.restore()

    def _clear(self) -> None:
        self._local: dict[str, float] = {}
        self._hooked: dict[str, float] = {}
        self._defined_at: Location | None = None
        self._largest = 1
        self._exchanged_at: Location | None = None
        self._is_mean = False
        self._loss: float | None = None

    def _watch_hooks(self) -> None:
        """A communication hook is the last to see the gradients of one rank, bucket by bucket, in backward."""
        original: Any = vars(dist)["_register_comm_hook"]
        note = shielded(self)(self._note_bucket)

        @functools.wraps(original)
        def register(reducer: Any, state: Any, hook: Any) -> None:
            @functools.wraps(hook)
            def watched(*args: Any) -> Any:
                if not self._is_over:
                    note(hook, args[-1])
                with frame_hidden:
                    return hook(*args)

            original(reducer, state, watched if inspect.isfunction(hook) else hook)

        self._patches.replace(dist, "_register_comm_hook", register)

    def _note_bucket(self, hook: Any, bucket: Any) -> None:
        code = hook.__code__
        if not is_user_file(code.co_filename):
            return
        names = {id(p): name for name, reference in self._followed.items() if (p := reference()) is not None}
        for p, grad in zip(bucket.parameters(), bucket.gradients(), strict=True):
            if id(p) in names and _is_plain(grad):
                self._hooked[names[id(p)]] = _weighed(grad.detach())
        if self._hooked:
            self._defined_at = location(code.co_filename, code.co_firstlineno, code.co_qualname)

    def note(self, tensors: Iterable[Any]) -> None:
        """An all-reduce is about to be called with these; the largest from the gradients to the update carries them."""
        sizes = [t.numel() for t in tensors if isinstance(t, torch.Tensor) and t.is_floating_point()]
        if (self._local or self._hooked) and max(sizes, default=0) > self._largest:
            self._largest = max(sizes)
            self._exchanged_at = user_location()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        self._is_mean = all(_is_whole_mean(root, self.recorder.world) for root in roots)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if not self._followed:
            self._followed = dict(self._chosen())
        self._loss = self.recorder.loss
        self._local = self._hooked or self._sums()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        exchanged_at = self._exchanged_at or self._defined_at
        if exchanged_at is not None and not self.recorder.clock_is_held:
            self.recorder.observe(
                GradientExchange(
                    step=self.recorder.step + 1,
                    local=self._local,
                    stepped=self._sums(),
                    loss=self._loss,
                    is_mean=self._is_mean,
                    optimizer=type(optimizer).__name__,
                    exchanged_at=exchanged_at,
                    in_hook=bool(self._hooked),
                )
            )
        self._clear()
        if self.recorder.step >= _CLOSE_STEPS:
            self._is_over = True
            self.recorder.rest(self)

    def _chosen(self) -> Iterator[tuple[str, weakref.ref[torch.Tensor]]]:
        """Some parameters that got a gradient, by name; sharded ones are known in part only."""
        named = [
            (name, p)
            for root in self._modules.roots()
            for name, p in root.named_parameters()
            if p.grad is not None and _is_plain(p.grad) and not hasattr(p, "_local_tensor")
        ]
        for name, p in named[:: max(1, len(named) // _MOST_PARAMETERS)]:
            yield name, weakref.ref(p)

    def _sums(self) -> dict[str, float]:
        alive = {name: p.grad for name, reference in self._followed.items() if (p := reference()) is not None}
        return {name: _weighed(grad.detach()) for name, grad in alive.items() if grad is not None and _is_plain(grad)}


def _weighed(grad: torch.Tensor) -> float:
    """A number that is linear in the values. The plain sum is 0 for the last layer under a softmax."""
    values = grad.reshape(-1)[:_MOST_VALUES].double()
    return float(values @ torch.arange(1, len(values) + 1, device=values.device).double().cos())


def _is_plain(grad: torch.Tensor) -> bool:
    return grad.layout == torch.strided and grad.is_floating_point()


def _is_whole_mean(root: Any, world: int) -> bool:
    """Whether a loss is a mean over a batch, or has such a term, that is not made smaller for the number of ranks."""
    scales = _means(root.grad_fn, 1.0, _DEEP) if root.numel() == 1 else ()
    return max(scales, default=0.0) * world > _UNDIVIDED


def _means(node: Any, scale: float, deep: int) -> Iterator[float]:
    """The factors that the means in a loss have in it."""
    if node is None or not deep:
        return
    following = [after for after, _ in node.next_functions if after is not None]
    if node.name().startswith("Mean") or getattr(node, "_saved_reduction", None) == _MEAN:
        yield scale
    elif node.name().startswith("Add"):
        for after in following:
            yield from _means(after, scale, deep - 1)
    elif len(following) == 1 and (factor := _factor(node)) is not None:
        yield from _means(following[0], scale * factor, deep - 1)


def _factor(node: Any) -> float | None:
    """The number that a quotient or a product has beside its tensor, as a factor."""
    value = getattr(node, "_saved_other", None)
    if not isinstance(value, (torch.Tensor, int, float)) or (isinstance(value, torch.Tensor) and value.numel() != 1):
        return None
    with _disable_current_modes():
        number = abs(float(value))
    if node.name().startswith("Mul"):
        return number
    return 1 / number if node.name().startswith("Div") and number else None
