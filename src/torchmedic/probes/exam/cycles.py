"""The exam of gradients between steps: are they cleared, when, scaled by what, and by whom are they used."""

from __future__ import annotations

import functools
import weakref
from dataclasses import field, replace
from typing import Any

import torch
from torch.amp import grad_scaler as torch_scaler
from torch.nn.utils import clip_grad as torch_clip

from torchmedic.facts import GradientCycles, Location, NeverStepped, ScaledGradientUse
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.exam.carried import Carried
from torchmedic.probes.objects.holdings import Fingerprint, registered
from torchmedic.probes.objects.marks import choose_marks, has_gradient
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_CYCLES_WATCHED = 24
_NORM_EVERY = 8
_BACKWARDS_WITHOUT_STEP = 20
_CLIPS = ("clip_grad_norm_", "clip_grad_value_")


@late_dataclass()
class _Cycle:
    """What happened to one optimizer since its last step."""

    backwards: int = 0
    was_empty: bool = False
    filled: bool = False
    cleared: bool = False
    scaled: bool = False
    unscaled_backward: Location | None = None
    scaled_backward: Location | None = None


@late_dataclass()
class _Book:
    """The cycles of one optimizer. `probes` are a few of its parameters that had a gradient."""

    fact: GradientCycles
    now: _Cycle = field(default_factory=_Cycle)
    probes: list[weakref.ref[torch.Tensor]] = field(default_factory=list)
    carried: Carried = field(default_factory=Carried)
    run_of_stale: int = 0
    stepped_at: int = -1
    backwards: int = 0
    by_closure: bool = False
    prints: list[tuple[weakref.ref[torch.Tensor], Fingerprint]] = field(default_factory=list)


class CycleExam(Probe):
    """Looks at the gradients of a few parameters around backward, `zero_grad` and `step`."""

    name = "cycle-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._books: dict[int, _Book] = {}
        self._over: list[_Book] = []
        self._open: set[int] = set()
        self._stepping: list[int] = []
        self._backwards = 0
        self._no_step_backward: Location | None = None
        self._scaled_losses: dict[int, weakref.ref[torch.Tensor]] = {}
        self._scale = 1.0
        self._in_scaler = False
        self._uses: dict[tuple[str, Location | None], ScaledGradientUse] = {}
        self._unscale_seen = False
        self._watch_scaler()
        self._watch_clipping()

    def remove(self) -> None:
        self._patches.restore()

    def on_optimizer(self, optimizer: Any) -> None:
        built = self._optimizers.built_at(optimizer)
        self._open.add(id(optimizer))
        self.recorder.wake(self)
        if id(optimizer) in self._books:
            self._over.append(self._books[id(optimizer)])
        self._books[id(optimizer)] = _Book(GradientCycles(optimizer=type(optimizer).__name__, built=built))

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.clock_is_held:
            return
        for _optimizer, book in self._alive():
            if book.probes and not book.now.was_empty:
                book.now.was_empty = not any(has_gradient(p) for p in book.probes)
            if book.probes and not book.now.was_empty and not book.now.cleared:
                book.carried.note_before(book.probes, roots)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.clock_is_held:
            return
        self._backwards += 1
        place: Location | None = None
        scaled = any(self._is_scaled(root) for root in roots)
        for optimizer, book in self._alive():
            if not book.probes:
                book.probes = choose_marks(optimizer)
            if not book.probes or not any(has_gradient(p) for p in book.probes):
                continue
            # The last pass before the first step is its own: others may have left something on the way.
            is_first_cycle = book.fact.cycles == 0
            if is_first_cycle or book.fact.backward is None or self._scaled_losses:
                place = place or user_location()
            book.carried.note_after(book.probes)
            book.now.backwards += 1
            book.backwards += 1
            book.now.filled = True
            if scaled:
                book.now.scaled, book.now.scaled_backward = True, place
            else:
                book.now.unscaled_backward = place
            if is_first_cycle or book.fact.backward is None:
                book.fact = replace(book.fact, backward=place)
            if not book.prints:
                book.prints = [(p, Fingerprint.of(tensor)) for p in book.probes if (tensor := p()) is not None]
        if self._no_step_backward is None:
            self._no_step_backward = place or user_location()

    def on_zero_grad(self, optimizer: Any) -> None:
        book = self._books.get(id(optimizer))
        if book is None or self.recorder.clock_is_held:
            return
        book.now.cleared = True
        # Gradients that were cleared unused say more than the clearing at the top of the loop.
        if book.fact.zero_grad is None or book.now.filled:
            book.fact = replace(book.fact, zero_grad=user_location())

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._leave_step(optimizer)
        self._stepping.append(id(optimizer))
        book = self._books.get(id(optimizer))
        if book is None or self.recorder.clock_is_held:
            return
        book.by_closure = bool(args[1:] or kwargs.get("closure"))
        if book.by_closure:
            return
        if book.fact.cycles < _CYCLES_WATCHED:
            self._close_cycle(optimizer, book)
        if book.now.scaled and not self._in_scaler:
            self._note("step", user_location(), "step", None, book)
        if book.now.scaled and book.now.unscaled_backward is not None and self._in_scaler:
            self._note("mixed", book.now.unscaled_backward, "backward", None, book)

    def on_step_done(self, optimizer: Any) -> None:
        self._leave_step(optimizer)
        book = self._books.get(id(optimizer))
        if book is None:
            return
        if book.by_closure and book.fact.cycles < _CYCLES_WATCHED and not self.recorder.clock_is_held:
            self._close_cycle(optimizer, book)
        book.now = _Cycle()
        if book.fact.cycles < _CYCLES_WATCHED and not self.recorder.clock_is_held:
            book.carried.note_step(book.probes)
        if not self._open:
            self.recorder.rest(self)

    def on_finish(self) -> None:
        for book in (*self._over, *self._books.values()):
            self.recorder.observe(book.fact)
        for use in self._uses.values():
            self.recorder.observe(replace(use, unscale_seen=self._unscale_seen))
        self._report_no_step()

    def _alive(self) -> list[tuple[Any, _Book]]:
        """Optimizers under watch."""
        if not self._open:
            return []
        pairs = [(o, self._books[id(o)]) for o in self._optimizers.alive() if id(o) in self._books]
        return [(o, b) for o, b in pairs if b.fact.cycles < _CYCLES_WATCHED]

    def _leave_step(self, optimizer: Any) -> None:
        """A step is over, and those inside it: one that raised is never done."""
        if id(optimizer) in self._stepping:
            del self._stepping[self._stepping.index(id(optimizer)) :]

    def _close_cycle(self, optimizer: Any, book: _Book) -> None:
        now = book.now
        has = bool(book.probes) and any(has_gradient(p) for p in book.probes)
        first = book.fact.cycles == 0
        stale = bool(not first and now.backwards and has and not now.cleared and not now.was_empty)
        stale = stale and book.carried.is_used_again(book.probes)
        emptied = bool(now.filled and now.cleared and not has)
        book.run_of_stale = book.run_of_stale + 1 if stale else 0
        norm = _norm(book.probes) if book.fact.cycles % _NORM_EVERY == 0 else book.fact.norm_last
        book.fact = replace(
            book.fact,
            cycles=book.fact.cycles + 1,
            stale=book.fact.stale + stale,
            emptied=book.fact.emptied + emptied,
            cleared=book.fact.cleared + now.cleared,
            longest_stale=max(book.fact.longest_stale, book.run_of_stale),
            norm_first=norm if book.fact.norm_first is None else book.fact.norm_first,
            norm_last=norm,
            stepped=book.fact.stepped or user_location(),
            step=self.recorder.step,
        )
        self._check_double(optimizer, book)
        if book.fact.cycles == _CYCLES_WATCHED:
            self._open.discard(id(optimizer))

    def _check_double(self, optimizer: Any, book: _Book) -> None:
        """A second optimizer that steps on the same parameters with the same gradient, backward not having run."""
        mine = {id(p) for g in optimizer.param_groups for p in g["params"]}
        for other, other_book in self._alive():
            # One that steps inside the step of another is its tool (sharpness-aware, lookahead): one update, not two.
            if other is optimizer or other_book.stepped_at != self._backwards or id(other) in self._stepping:
                continue
            shared = [p for g in other.param_groups for p in g["params"] if id(p) in mine and p.grad is not None]
            if shared:
                owners = registered(self._modules.roots())
                book.fact = replace(
                    book.fact,
                    doubled=book.fact.doubled + 1,
                    doubled_with=f"{type(other).__name__} built at {self._optimizers.built_at(other)}",
                    doubled_names=tuple(owners[id(p)].path if id(p) in owners else "a tensor" for p in shared)[:8],
                )
        book.stepped_at = self._backwards

    def _report_no_step(self) -> None:
        owners = registered(self._modules.roots())
        for book in (*self._over, *self._books.values()):
            alive = [(t, f) for r, f in book.prints if (t := r()) is not None]
            waited = book.backwards >= _BACKWARDS_WITHOUT_STEP
            if book.fact.cycles or not waited or not alive or any(not f.fits(t) for t, f in alive):
                continue
            self.recorder.observe(
                NeverStepped(
                    optimizer=book.fact.optimizer,
                    backwards=book.backwards,
                    built=book.fact.built,
                    backward=book.fact.backward or self._no_step_backward,
                    zero_grad=book.fact.zero_grad,
                    names=tuple(owners[id(t)].path for t, _ in alive if id(t) in owners),
                )
            )

    def _is_scaled(self, root: Any) -> bool:
        kept = self._scaled_losses.get(id(root))
        return kept is not None and kept() is root

    def _note(self, act: str, where: Location | None, function: str, limit: float | None, book: _Book) -> None:
        if self._scale == 1.0:
            return
        known = self._uses.get((act, where))
        if known is not None:
            self._uses[act, where] = replace(known, times=known.times + 1)
            return
        self._uses[act, where] = ScaledGradientUse(
            act=act,
            times=1,
            scale=self._scale,
            function=function,
            limit=limit,
            norm=_norm(book.probes),
            where=where,
            scaled_backward=book.now.scaled_backward,
            step=self.recorder.step,
        )

    def _watch_scaler(self) -> None:
        scaler = torch_scaler.GradScaler
        scale, unscale, step = scaler.scale, scaler.unscale_, scaler.step
        note_scale, note_unscale = shielded(self)(self._note_scale), shielded(self)(self._note_unscale)

        @functools.wraps(scale)
        def scale_(this: Any, outputs: Any) -> Any:
            with frame_hidden:
                result = scale(this, outputs)
            if self.recorder.is_ours:
                note_scale(this, result)
            return result

        @functools.wraps(unscale)
        def unscale_(this: Any, optimizer: Any) -> None:
            with frame_hidden:
                unscale(this, optimizer)
            note_unscale(optimizer)

        @functools.wraps(step)
        def step_(this: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._in_scaler = True
            try:
                with frame_hidden:
                    return step(this, optimizer, *args, **kwargs)
            finally:
                self._in_scaler = False

        for name, new in (("scale", scale_), ("unscale_", unscale_), ("step", step_)):
            self._patches.replace(scaler, name, new)

    def _note_scale(self, scaler: Any, result: Any) -> None:
        if not scaler._enabled:
            return
        for tensor in (result,) if isinstance(result, torch.Tensor) else tuple(result):
            self._scaled_losses = {id(tensor): weakref.ref(tensor), **self._recent_losses()}
        if not self._uses and self._open:
            self._scale = float(scaler._scale)

    def _note_unscale(self, optimizer: Any) -> None:
        book = self._books.get(id(optimizer))
        if book is not None and not self._in_scaler:
            self._unscale_seen = True
            book.now.scaled = False

    def _recent_losses(self) -> dict[int, weakref.ref[torch.Tensor]]:
        return {key: kept for key, kept in list(self._scaled_losses.items())[:7] if kept() is not None}

    def _watch_clipping(self) -> None:
        note = shielded(self)(self._note_clip)
        for name in _CLIPS:
            original = getattr(torch_clip, name)

            def clip(
                parameters: Any, limit: Any, *args: Any, _original: Any = original, _name: str = name, **kwargs: Any
            ) -> Any:
                if self._scaled_losses and self.recorder.is_ours:
                    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
                    note(parameters, _name, limit)
                with frame_hidden:
                    return _original(parameters, limit, *args, **kwargs)

            wrapped = functools.wraps(original)(clip)
            self._patches.replace(torch_clip, name, wrapped)
            self._patches.replace(torch.nn.utils, name, wrapped)

    def _note_clip(self, given: list[torch.Tensor], name: str, limit: Any) -> None:
        ids = {id(p) for p in given}
        for optimizer, book in self._alive():
            if book.now.scaled and any(id(p) in ids for g in optimizer.param_groups for p in g["params"]):
                number = float(limit) if isinstance(limit, (int, float)) else None
                self._note("clip", user_location(), name, number, book)
                return


def _norm(references: list[weakref.ref[torch.Tensor]]) -> float | None:
    norms = [float(t.grad.detach().float().norm()) for r in references if (t := r()) is not None and t.grad is not None]
    return sum(n * n for n in norms) ** 0.5 if norms else None
