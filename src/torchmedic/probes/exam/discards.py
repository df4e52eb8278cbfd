"""The exam of discarded gradients: filled by a backward, cleared before the step, and read by nobody in between."""

from __future__ import annotations

import functools
import sys
import weakref
from collections import Counter
from dataclasses import field
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.amp import grad_scaler as torch_scaler
from torch.nn.utils import clip_grad as torch_clip
from torch.overrides import TorchFunctionMode

from torchmedic.facts import DiscardedGradients, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import is_compiled, may_put_on, take_off
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.marks import choose_marks, has_gradient
from torchmedic.probes.source.frames import is_own_file, location_in, user_location
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder, shielded

_CYCLES_WATCHED = 16
_CYCLES_INNOCENT = 3
_SUSPICIOUS_AFTER = 2
_MOST_LOOKS = 3
# These read gradients in order to clear or to shorten them, which is no use of them.
_CLEARING = "zero_grad"

Line = tuple[CodeType, int]


@late_dataclass()
class _Cycle:
    """What happened to one optimizer since its last step: the lines whose gradients were lost, and whose are there."""

    lost: list[Line | None] = field(default_factory=list)
    filled_by: Line | None = None
    is_filled: bool = False
    was_read: bool = False


@late_dataclass()
class _Book:
    name: str
    built: Location | None
    marks: list[weakref.ref[torch.Tensor]] = field(default_factory=list)
    now: _Cycle = field(default_factory=_Cycle)
    passes: list[int] = field(default_factory=list)
    looked: int = 0
    excused: bool = False
    cleared: Location | None = None
    backward: Location | None = None
    stepped: Location | None = None

    @property
    def is_guilty(self) -> bool:
        """Not yet shown to be innocent: a few steps at the start of an epoch may have a single backward."""
        return not self.excused and self.passes.count(1) < _CYCLES_INNOCENT

    @property
    def is_open(self) -> bool:
        return self.is_guilty and len(self.passes) < _CYCLES_WATCHED

    @property
    def is_suspicious(self) -> bool:
        return self.is_open and sum(passes > 1 for passes in self.passes) >= _SUSPICIOUS_AFTER


class DiscardExam(Probe):
    """Counts backward passes whose gradients are gone at the next one; on suspicion it looks who reads them."""

    name = "discard-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._books: weakref.WeakKeyDictionary[Any, _Book] = weakref.WeakKeyDictionary()
        self._over: list[_Book] = []
        self._reads: _GradientReads | None = None
        self._in_closure = False
        self._closure_computes = False
        self._watch_clearing()
        self._watch_scaler()

    def remove(self) -> None:
        self._stop_looking()
        self._patches.restore()

    def on_optimizer(self, optimizer: Any) -> None:
        book = _Book(type(optimizer).__name__, self._optimizers.built_at(optimizer))
        self._books[optimizer] = book
        self._over.append(book)
        self.recorder.wake(self)

    def on_zero_grad(self, optimizer: Any) -> None:
        book = self._books.get(optimizer)
        # Lightning hands out a double of the optimizer, which clears the same gradients.
        for cleared in (book,) if book is not None else self._open_books():
            if cleared.is_open and cleared.now.is_filled and not self._is_blind():
                cleared.cleared = user_location()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        self._closure_computes |= self._in_closure
        if self._is_blind():
            return
        for book in self._open_books():
            now = book.now
            if not now.is_filled or any(has_gradient(mark) for mark in book.marks):
                continue
            now.lost.append(now.filled_by)
            now.is_filled = False
            now.was_read |= self._reads is not None and self._reads.seen
        if self._reads is not None:
            self._reads.seen = False

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self._is_blind():
            return
        for optimizer, book in list(self._books.items()):
            if not book.is_open:
                continue
            book.marks = book.marks or choose_marks(optimizer)
            if any(has_gradient(mark) for mark in book.marks):
                book.now.is_filled, book.now.filled_by = True, self.recorder.backward_at
        if self._reads is not None:
            self._reads.seen = False

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held:
            return
        self._in_closure, self._closure_computes = bool(args[1:] or kwargs.get("closure")), False
        # What another optimizer steps on may have been computed for it alone.
        for other, book in self._books.items():
            if other is not optimizer:
                book.now = _Cycle()
        own = self._books.get(optimizer)
        if own is not None and own.is_open and not self._in_closure:
            self._close_cycle(optimizer, own)

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.clock_is_held:
            return
        own = self._books.get(optimizer)
        # Frameworks pass a closure that does nothing where the user has run backward before.
        if own is not None and own.is_open and self._in_closure and not self._closure_computes:
            self._close_cycle(optimizer, own)
        elif own is not None:
            own.now = _Cycle()
        self._in_closure = False
        if any(book.is_suspicious and book.looked < _MOST_LOOKS for book in self._open_books()):
            self._start_looking()
        elif not self._open_books():
            self.recorder.rest(self)

    def on_finish(self) -> None:
        self._stop_looking()
        for book in self._over:
            if book.is_guilty and book.looked:
                passes, alike = Counter(book.passes).most_common(1)[0]
                self.recorder.observe(
                    DiscardedGradients(
                        optimizer=book.name,
                        passes=passes,
                        cycles=len(book.passes),
                        alike=alike,
                        looked=book.looked,
                        cleared=book.cleared,
                        backward=book.backward,
                        stepped=book.stepped,
                        built=book.built,
                        step=self.recorder.step,
                    )
                )

    def _is_blind(self) -> bool:
        return self.recorder.clock_is_held or self._in_closure

    def _open_books(self) -> list[_Book]:
        return [book for book in self._books.values() if book.is_open]

    def _close_cycle(self, optimizer: Any, book: _Book) -> None:
        """Gradients of other lines than the one that is applied have a purpose of their own."""
        now, book.now = book.now, _Cycle()
        looked = self._reads is not None
        self._stop_looking()
        alike = now.is_filled and any(map(has_gradient, book.marks)) and all(line == now.filled_by for line in now.lost)
        book.passes.append(1 + len(now.lost) if alike else 1)
        if looked:
            book.looked += 1
            book.excused = now.was_read or self._are_hooked(optimizer)
        if book.stepped is None and now.lost:
            book.stepped = user_location()
            book.backward = location_in(*now.filled_by) if now.filled_by is not None else None

    def _are_hooked(self, optimizer: Any) -> bool:
        """Whether somebody listens to the gradients while backward runs."""
        own = {id(p) for group in optimizer.param_groups for p in group["params"]}
        hooks = ("_backward_hooks", "_post_accumulate_grad_hooks")
        held = [p for group in optimizer.param_groups for p in group["params"]]
        if any(getattr(p, hook, None) for p in held for hook in hooks):
            return True
        layers = (m for m in self._modules.alive() if any(id(p) in own for p in m.parameters(recurse=False)))
        return any(m._backward_hooks or m._backward_pre_hooks for m in layers)

    def _start_looking(self) -> None:
        if self._reads is None and may_put_on() and not is_compiled():
            self._reads = _GradientReads()
            torch._C._push_on_torch_function_stack(self._reads)

    def _stop_looking(self) -> None:
        if self._reads is not None:
            take_off(self._reads)
            self._reads = None

    def _watch_clearing(self) -> None:
        """`Module.zero_grad` clears what the optimizer holds without its knowledge."""
        original = nn.Module.zero_grad
        note = shielded(self)(self._note_clearing)

        @functools.wraps(original)
        def zero_grad(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            if self.recorder.is_ours:
                note()
            with frame_hidden:
                original(module, *args, **kwargs)

        self._patches.replace(nn.Module, "zero_grad", zero_grad)

    def _note_clearing(self) -> None:
        if not self._is_blind():
            for book in self._open_books():
                if book.now.is_filled:
                    book.cleared = user_location()

    def _watch_scaler(self) -> None:
        """A step that the scaler leaves out because of an overflow was meant to be made."""
        original = torch_scaler.GradScaler.step
        forget = shielded(self)(self._forget_cycle)

        @functools.wraps(original)
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(scaler, optimizer, *args, **kwargs)
            forget(optimizer)
            return result

        self._patches.replace(torch_scaler.GradScaler, "step", step)

    def _forget_cycle(self, optimizer: Any) -> None:
        book = self._books.get(optimizer)
        if book is not None:
            book.now = _Cycle()


class _GradientReads(TorchFunctionMode):
    """Notices that a gradient is read or set by hand, whosever it is."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.seen and getattr(func, "__self__", None) is torch.Tensor.grad:
            self.seen = _is_use(sys._getframe(1).f_code, func, args)
        try:
            return func(*args, **(kwargs or {}))
        except BaseException as error:
            hide_mode(error)
            raise


def _is_use(reader: CodeType, func: Any, args: tuple[Any, ...]) -> bool:
    if func.__name__ == "__set__":
        return args[1] is not None
    is_clipping = reader.co_filename == torch_clip.__file__
    return reader.co_name != _CLEARING and not is_clipping and not is_own_file(reader.co_filename)
