"""The exam of gradients that a clearing leaves out: some of what an optimizer steps on is cleared, the rest never."""

from __future__ import annotations

import functools
from dataclasses import field
from typing import Any

import torch
from torch import nn

from torchmedic.facts import LeftGradients, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.holdings import registered
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_CYCLES_WATCHED = 12
_MOST_TENSORS = 400
_SHOWN = 4

Norms = dict[int, float]


@late_dataclass()
class _Book:
    """One optimizer: the norms at its last step, what a clearing has left since, and for how many cycles on end.

    What has `grown` may still be cleared before a step uses it; what is `used_again` was not.
    """

    cycles: int = 0
    used: Norms = field(default_factory=dict)
    left: Norms = field(default_factory=dict)
    cleared: int = 0
    waits: bool = False
    grown: set[int] = field(default_factory=set)
    used_again: set[int] = field(default_factory=set)
    runs: dict[int, int] = field(default_factory=dict)
    first: Norms = field(default_factory=dict)
    backward: Location | None = None


class LeftGradientExam(Probe):
    """Compares the gradients of each optimizer's parameters before and after the first backward that follows a step."""

    name = "left-gradient-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._books: dict[int, _Book] = {}
        self._cleared_at: Location | None = None
        self._over = False
        self._patches = Patches()
        original = nn.Module.zero_grad
        note = shielded(self)(self._note_clearing)

        @functools.wraps(original)
        def zero_grad(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(module, *args, **kwargs)
            note()

        self._patches.replace(nn.Module, "zero_grad", zero_grad)

    def remove(self) -> None:
        self._patches.restore()

    def _note_clearing(self) -> None:
        if not self._over and self._books and self.recorder.is_ours:
            self._cleared_at = user_location()

    def on_optimizer(self, optimizer: Any) -> None:
        self._books.pop(id(optimizer), None)
        self._over = False
        self.recorder.wake(self)

    def on_zero_grad(self, optimizer: Any) -> None:
        self._note_clearing()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        for optimizer, book in self._grown():
            now = _norms(optimizer)
            book.grown = {key for key in book.grown if now.get(key)}
        for optimizer, book in self._waiting():
            now = _norms(optimizer)
            book.left = {key: norm for key, norm in now.items() if norm and norm == book.used.get(key)}
            book.cleared = sum(not now.get(key) for key in book.used)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        for optimizer, book in self._waiting():
            now = _norms(optimizer) if book.left and book.cleared else {}
            grown = [key for key, norm in book.left.items() if book.cleared and now.get(key) not in (None, norm)]
            book.grown = set(grown)
            book.waits = False
            if grown:
                book.backward = book.backward or user_location()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held or any(map(callable, (*args[1:], *kwargs.values()))):
            return
        self._note_use(optimizer)
        book = self._books.setdefault(id(optimizer), _Book())
        if book.cycles < _CYCLES_WATCHED:
            book.cycles += 1
            book.runs = {key: book.runs.get(key, 0) + 1 for key in book.used_again}
            book.grown, book.used_again = set(), set()
            book.used = {key: norm for key, norm in _norms(optimizer).items() if norm}
            book.first = book.first or book.used
            book.waits = book.cycles < _CYCLES_WATCHED

    def _note_use(self, optimizer: Any) -> None:
        """Another optimizer of the same parameters may be the one that uses what has grown."""
        stepped = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for owner, book in self._grown():
            now = _norms(owner)
            book.used_again |= {key for key in book.grown & stepped if now.get(key)}

    def on_step_done(self, optimizer: Any) -> None:
        books = [self._books.get(id(each)) for each in self._optimizers.alive()]
        if all(book is not None and book.cycles >= _CYCLES_WATCHED for book in books):
            self._over = True
            self.recorder.rest(self)

    def on_finish(self) -> None:
        owners = registered(self._modules.roots())
        for optimizer in self._optimizers.alive():
            book = self._books.get(id(optimizer))
            keys = [key for key, run in book.runs.items() if run >= _CYCLES_WATCHED - 2] if book is not None else []
            if book is None or not keys or any(key not in owners for key in keys):
                continue
            largest = max(keys, key=lambda key: book.used.get(key, 0.0))
            self.recorder.observe(
                LeftGradients(
                    step=self.recorder.step,
                    optimizer=type(optimizer).__name__,
                    built=self._optimizers.built_at(optimizer),
                    parameters=tuple(f"{type(owners[k].root).__name__}.{owners[k].path}" for k in keys)[:_SHOWN],
                    count=len(keys),
                    cleared=book.cleared,
                    cycles=min(book.runs[key] for key in keys),
                    norm_first=book.first.get(largest),
                    norm_last=book.used.get(largest),
                    backward=book.backward,
                    zero_grad=self._cleared_at,
                )
            )

    def _grown(self) -> list[tuple[Any, _Book]]:
        """Optimizers of which a backward has added to what was left, and that have not stepped since."""
        pairs = [(each, self._books.get(id(each))) for each in self._optimizers.alive()]
        return [(each, book) for each, book in pairs if book is not None and book.grown]

    def _waiting(self) -> list[tuple[Any, _Book]]:
        """Optimizers that have stepped, and no backward has come since."""
        if self.recorder.clock_is_held or not any(book.waits for book in self._books.values()):
            return []
        pairs = [(each, self._books.get(id(each))) for each in self._optimizers.alive()]
        return [(each, book) for each, book in pairs if book is not None and book.waits]


def _norms(optimizer: Any) -> Norms:
    """The norm of every gradient that is used; none at all where one of them is spread over ranks or sparse."""
    groups = [group for group in optimizer.param_groups if group.get("lr") != 0]
    held = [p for group in groups for p in group["params"] if p.grad is not None][:_MOST_TENSORS]
    if not held or any(type(p.grad) is not torch.Tensor or p.grad.layout != torch.strided for p in held):
        return {}
    norms = torch.stack([n.double().cpu() for n in torch._foreach_norm([p.grad for p in held])]).tolist()
    return {id(p): norm for p, norm in zip(held, norms, strict=True)}
