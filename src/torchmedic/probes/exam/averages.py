"""The exam of averaged weights: how much of itself a copy of the model keeps at each of its updates."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.facts import AverageSeen, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import is_compiled, may_put_on, take_off
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.averaged_copies import (
    Names,
    Pair,
    Weights,
    find_pairs,
    made_at,
    named_from,
    named_in,
    stale_buffers,
    unseen_layers,
    weights_of,
)
from torchmedic.probes.graph.trace import StorageKey, storage_key
from torchmedic.probes.objects.holdings import Fingerprint
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder, next_of, shielded

_LOOKS = (5, 12, 24, 40, 60, 200, 1000)
_SEARCHES = (5, 60, 200)
_FORGETFUL = 0.2
_SMALLEST, _LARGEST = 4, 65_536
_LEAST_DISTANCE = 1e-5
_RESIDUE = 0.02
_MOST_CALLS = 2_000
_UPDATING = re.compile(r"mul|lerp|add|sub|copy")


@late_dataclass()
class _Watched:
    """A pair, the parameter by which it is judged, and what its updates were like."""

    pair: Pair
    model: str
    parameter: str
    built: Location | None
    then: Fingerprint
    model_then: Fingerprint
    before: torch.Tensor | None = None
    looks: int = 0
    shared: int = 0
    kept: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    updated: Location | None = None
    stale: tuple[str, ...] = ()
    evaluated_at: Location | None = None
    moved: bool = False

    def read(self, names: Names) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The judged parameter of the model and of its copy."""
        model, copy = self.pair.model(), self.pair.read(names)
        if model is None or copy is None or self.parameter not in copy:
            return None
        return weights_of(model)[self.parameter].detach(), copy[self.parameter].detach()


class AverageExam(Probe):
    """Compares one small parameter of model and copy at a few pairs of neighbouring steps."""

    name = "average-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._watched: list[_Watched] = []
        self._line: _UpdateLine | None = None
        self._calls_heard = 0

    def averages(self) -> list[tuple[Pair, str]]:
        """What was found so far that is called an average or moves as one, and the parameter by which it is judged."""
        found = (w for w in self._watched if w.pair.is_named_so or any(0 < kept < 1 for kept in w.kept))
        return [(watched.pair, watched.parameter) for watched in found]

    def remove(self) -> None:
        self._stop_line()

    def on_crash(self, error: BaseException) -> None:
        self._stop_line()

    def on_any_mode(self, module: Any, training: bool) -> None:
        """An evaluation begins: is a copy called whose statistics are still those of a new layer."""
        if training or self._calls_heard >= _MOST_CALLS:
            self._modules.stop_listening(self.name)
        elif any(watched.evaluated_at is None and unseen_layers(watched.pair) for watched in self._watched):
            self._modules.listen(self.name, inner=shielded(self)(self._on_call))

    def on_forward(self, module: Any) -> None:
        self._calls_heard += 1
        if self._calls_heard >= _MOST_CALLS:
            self._modules.stop_listening(self.name)
        self._on_call(module)

    def _on_call(self, module: Any) -> None:
        """A copy may be called by itself, or by a wrapper around it."""
        for watched in self._watched:
            copy = watched.pair.copy() if watched.pair.copy is not None else None
            if copy is not module or watched.evaluated_at is not None:
                continue
            stale = stale_buffers(watched.pair)
            if stale:
                watched.stale, watched.evaluated_at = stale, user_location()
                watched.moved |= not watched.then.fits(weights_of(copy)[watched.parameter].detach())

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._stop_line()
        step = self.recorder.step
        if self.recorder.clock_is_held or step < _LOOKS[0]:
            return
        if step in _SEARCHES and not self._watched:
            self._search(named_from(sys._getframe(1)))
        if self._watched and (step in _LOOKS or step - 1 in _LOOKS):
            names = named_from(sys._getframe(1))
            with torch.no_grad():
                for watched in self._watched:
                    self._look(watched, step, names)
        if step not in _LOOKS or not self._watched:
            self.recorder.rest(self, next_of(_LOOKS if self._watched else _SEARCHES, step))

    def on_step_done(self, optimizer: Any) -> None:
        """A copy that has lost itself at every update so far is worth finding the line of."""
        suspects = [w for w in self._watched if w.updated is None and (_is_forgetful(w) or w.stale)]
        if not suspects or self._line is not None or self.recorder.step - 1 not in _LOOKS:
            return
        if is_compiled() or not may_put_on():
            return
        names = named_from(sys._getframe(1))
        found = {storage_key(both[1]): w for w in suspects if (both := w.read(names)) is not None}
        if found:
            self._line = _UpdateLine(found)
            torch._C._push_on_torch_function_stack(self._line)

    def _stop_line(self) -> None:
        if self._line is not None:
            take_off(self._line)
            self._line = None

    def _search(self, names: Names) -> None:
        stepped = {id(p) for o in self._optimizers.alive() for g in o.param_groups for p in g["params"]}
        for pair in find_pairs(self._modules.alive(), stepped, names):
            model, copy = pair.model(), pair.read(names)
            weights: Weights = weights_of(model) if model is not None else {}
            parameter = _chosen(weights)
            if copy is not None and parameter in copy:
                its_module = pair.copy() if pair.copy is not None else None
                self._watched.append(
                    _Watched(
                        pair=pair,
                        model=type(model).__name__,
                        parameter=parameter,
                        built=self._modules.born_at(its_module)
                        if its_module is not None
                        else made_at(pair.name, names),
                        then=Fingerprint.of(copy[parameter]),
                        model_then=Fingerprint.of(weights[parameter]),
                    )
                )

    def _look(self, watched: _Watched, step: int, names: Names) -> None:
        both = watched.read(names)
        if both is None:
            watched.before = None
            return
        mine, its = both
        watched.looks += 1
        watched.moved = watched.moved or not watched.then.fits(its)
        watched.stale = unseen_layers(watched.pair)
        watched.shared += storage_key(mine) == storage_key(its)
        if watched.before is not None and step - 1 in _LOOKS:
            kept = share_kept(watched.before, its.float(), mine.float())
            if kept is not None:
                watched.kept.append(kept)
                watched.steps.append(step - 1)
        watched.before = its.float().clone() if step in _LOOKS else None

    def on_finish(self) -> None:
        self._stop_line()
        names = named_in([vars(sys.modules["__main__"])]) if self._watched else {}
        for watched in self._watched:
            both = watched.read(names)
            self.recorder.observe(
                AverageSeen(
                    name=watched.pair.name,
                    named_so=watched.pair.is_named_so,
                    model=watched.model,
                    parameter=watched.parameter,
                    kept=tuple(watched.kept),
                    steps=tuple(watched.steps),
                    shared=watched.looks > 1 and watched.shared == watched.looks,
                    still=both is not None and watched.then.fits(both[1]) and not watched.model_then.fits(both[0]),
                    trained=self.recorder.step,
                    built=watched.built,
                    updated=watched.updated,
                    by_torch=watched.pair.by_torch,
                    stale=watched.stale,
                    evaluated_at=watched.evaluated_at,
                    moved=watched.moved or (both is not None and not watched.then.fits(both[1])),
                )
            )


def _is_forgetful(watched: _Watched) -> bool:
    return bool(watched.kept) and max(watched.kept) <= _FORGETFUL


class _UpdateLine(TorchFunctionMode):
    """Notes the user's line that first computes with the weights of a copy, other than to call it."""

    def __init__(self, wanted: dict[StorageKey, _Watched]) -> None:
        super().__init__()
        self._wanted = wanted

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self._wanted and _UPDATING.search(getattr(func, "__name__", "")):
            for tensor in _tensors(args):
                watched = self._wanted.pop(storage_key(tensor), None)
                if watched is not None:
                    watched.updated = user_location()
        try:
            return func(*args, **(kwargs or {}))
        except BaseException as error:
            hide_mode(error)
            raise


def _tensors(args: Any) -> Iterator[torch.Tensor]:
    for thing in args:
        if isinstance(thing, torch.Tensor) and thing.layout == torch.strided:
            yield thing
        elif isinstance(thing, (list, tuple)):
            yield from (t for t in thing if isinstance(t, torch.Tensor) and t.layout == torch.strided)


def _chosen(weights: Weights) -> str:
    """The smallest parameter that is more than a number or two."""
    fit = {n: w.numel() for n, w in weights.items() if w.is_floating_point() and _SMALLEST <= w.numel() <= _LARGEST}
    return min(fit, key=lambda name: fit[name], default="")


def share_kept(before: torch.Tensor, now: torch.Tensor, model: torch.Tensor) -> float | None:
    """How much of its distance from the model a copy kept; None where it did something else, or had none to speak of.

    >>> share_kept(torch.zeros(4), torch.full((4,), 0.25), torch.ones(4))
    0.75
    """
    if before.shape != now.shape or before.device != now.device:
        return None
    far, left = before - model, now - model
    distance = float(far.norm())
    if not distance > _LEAST_DISTANCE * float(model.norm()):
        return None
    if torch.equal(now, before):
        return 1.0
    kept = float((far * left).sum()) / distance**2
    residue = float((left - kept * far).norm()) / distance
    return 0.0 if torch.equal(now, model) else kept if residue < _RESIDUE else None
