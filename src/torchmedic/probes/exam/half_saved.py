"""The exam of partial checkpoints: are weights that were trained neither saved nor in the model that loads the rest?"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.facts import Location, TrainedNotSaved
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.modes import is_compiled
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.graph.trace import storage_key
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.objects.holdings import Fingerprint
from torchmedic.probes.objects.lineage import Lineage
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.making_lines import argument_at, line_with
from torchmedic.record import Probe, Recorder, shielded

_DEEPEST = 3
_MOST_ENTRIES = 10_000
_MOST_LOOKS = 200
_MOST_NAMES = 6
_MOST_CALLS = 2_000
_COMPARED = 2

Weights = dict[str, torch.Tensor]


@late_dataclass(frozen=True)
class _Saved:
    """A part of a trained model's weights, and what was trained beside it."""

    model: weakref.ref[nn.Module]
    left: dict[str, Fingerprint]
    where: Location | None


@late_dataclass()
class _Loaded:
    """A model that was given that part, and holds other values where the rest belongs."""

    model: weakref.ref[nn.Module]
    fresh: dict[str, Fingerprint]
    given: int
    owners: frozenset[int]
    saved: Location | None
    where: Location | None
    called: set[int] = field(default_factory=set)
    fact: TrainedNotSaved | None = None


class HalfSavedExam(Probe):
    """Compares what is saved with what is trained, and looks at the first evaluation of a model that loads it."""

    name = "half-saved-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers, lineage: Lineage) -> None:
        self._modules = modules
        self._optimizers = optimizers
        self._lineage = lineage

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._saved: dict[frozenset[str], _Saved | None] = {}
        self._waiting: dict[int, _Loaded] = {}
        self._judged: list[_Loaded] = []
        self._open: _Loaded | None = None
        self._handle: Any = None
        self._looks = self._calls = 0
        tell_after(self, self._patches, torch, "save", lambda _, args: self._note_saved(args[0] if args else None))
        tell_after(self, self._patches, nn.Module, "load_state_dict", lambda _, args: self._note_loaded(args))

    def remove(self) -> None:
        self._close()
        self._patches.restore()

    def _note_saved(self, thing: Any) -> None:
        for state in _states_in(thing) if self.recorder.step and self._looks < _MOST_LOOKS else ():
            self._looks += 1
            self._saved[frozenset(state)] = self._part_of(state, user_location())

    def _part_of(self, state: Weights, where: Location | None, but: nn.Module | None = None) -> _Saved | None:
        """The trained model that these weights are a part of; None where one has them all."""
        found: _Saved | None = None
        first = next(iter(state)).partition(".")[0]
        for module in self._modules.alive():
            if module is but or not (first in module._modules or first in module._parameters):
                continue
            learned: Weights = dict(module.named_parameters(remove_duplicate=False))
            names = learned.keys() | dict(module.named_buffers(remove_duplicate=False)).keys()
            trained: Weights = {
                name: p for name, p in learned.items() if not is_lazy(p) and self._lineage.was_trained(p)
            }
            inside = [name for name in trained if name in state]
            if not inside or not state.keys() <= names or not _are_equal(state, trained, inside):
                continue
            left = {name: Fingerprint.of(p) for name, p in trained.items() if name not in state}
            if not left:
                return None
            found = found or _Saved(weakref.ref(module), left, where)
        return found

    def _note_loaded(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) < 2 or not self.recorder.step or not isinstance(arguments[1], dict):
            return
        module, where = arguments[0], user_location()
        own = dict(module.named_parameters(remove_duplicate=False))
        memory = {storage_key(p) for p in own.values() if not is_lazy(p)}
        state = {name: t for name, t in _tensors_of(arguments[1]).items() if storage_key(t) not in memory}
        known = self._saved.get(frozenset(state))
        if known is None and state and self._looks < _MOST_LOOKS:
            self._looks += 1
            known = self._part_of(state, None, but=module)
        if known is None or known.model() is module:
            return
        fresh = {name: own[name] for name, kept in known.left.items() if name in own and _is_other(own[name], kept)}
        trained = {id(p) for o in self._optimizers.alive() for g in o.param_groups for p in g["params"]}
        if not fresh or any(id(p) in trained for p in fresh.values()):
            return
        self._waiting[id(module)] = _Loaded(
            model=weakref.ref(module),
            fresh={name: Fingerprint.of(p) for name, p in fresh.items()},
            given=len(state),
            owners=frozenset(id(layer) for layer in _layers_with(module, fresh)),
            saved=_taken_at(known.where, "save") or _taken_at(where, "load_state_dict") or known.where,
            where=where,
        )
        self._modules.listen(self.name, shielded(self)(self._on_call))

    def on_optimizer(self, optimizer: Any) -> None:
        """What was not loaded is trained anew: a new head for a new task."""
        trained = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for loaded in [*self._waiting.values(), *self._judged]:
            if trained & {id(p) for p in _held(loaded).values()}:
                self._waiting = {key: one for key, one in self._waiting.items() if one is not loaded}
                self._judged = [one for one in self._judged if one is not loaded]

    def on_forward(self, module: Any) -> None:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._waiting.clear()
            self._modules.stop_listening(self.name)
        self._on_call(module)

    def _on_call(self, module: nn.Module) -> None:
        if self._open is not None:
            self._open.called.add(id(module))
            return
        loaded = self._waiting.get(id(module))
        is_evaluated = not module.training or not torch.is_grad_enabled()
        if loaded is None or not is_evaluated or self.recorder.clock_is_held or is_compiled():
            return
        is_same = loaded.model() is module
        if is_same and all(loaded.fresh[name].fits(p) for name, p in _held(loaded).items()):
            self._open = loaded
            loaded.called.add(id(module))
            self._handle = module.register_forward_hook(shielded(self)(self._on_answer))

    def _on_answer(self, module: nn.Module, _args: Any, answer: Any) -> None:
        """Only of one answer is it known that all that was called inside has gone into it."""
        loaded = self._open
        self._close()
        if loaded is None:
            return
        self._waiting.pop(id(module), None)
        if loaded.owners & loaded.called and _answers(answer) == 1:
            loaded.fact = TrainedNotSaved(
                step=self.recorder.step,
                model=type(module).__name__,
                names=tuple(loaded.fresh)[:_MOST_NAMES],
                left=len(loaded.fresh),
                given=loaded.given,
                saved=loaded.saved,
                loaded=loaded.where,
                evaluated=user_location(),
            )
            self._judged.append(loaded)
        if not self._waiting:
            self._modules.stop_listening(self.name)

    def _close(self) -> None:
        self._open = None
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def on_finish(self) -> None:
        self._close()
        for loaded in self._judged:
            stayed = all(loaded.fresh[name].fits(p) for name, p in _held(loaded).items())
            if loaded.fact is not None and stayed:
                self.recorder.observe(loaded.fact)


def _layers_with(module: nn.Module, names: Iterable[str]) -> Iterator[nn.Module]:
    """The layers that hold these weights; what has parts of its own may well be called without using its weights."""
    for name in names:
        layer = module.get_submodule(name.rpartition(".")[0])
        if next(layer.children(), None) is None:
            yield layer


def _held(loaded: _Loaded) -> Weights:
    """The weights in question of a model that may be gone."""
    module = loaded.model()
    own: Weights = dict(module.named_parameters(remove_duplicate=False)) if module is not None else {}
    return {name: own[name] for name in loaded.fresh if name in own}


def _states_in(thing: Any, depth: int = _DEEPEST) -> Iterator[Weights]:
    """The dictionaries of weights by name, in what is saved."""
    if not isinstance(thing, dict) or depth == 0 or len(thing) > _MOST_ENTRIES:
        return
    state = _tensors_of(thing)
    if state and len(state) == len(thing):
        yield state
        return
    for _, value in pairs_in(thing):
        yield from _states_in(value, depth - 1)


def _tensors_of(held: dict[Any, Any]) -> Weights:
    found = ((name, t) for name, t in pairs_in(held) if isinstance(name, str) and isinstance(t, torch.Tensor))
    return {name: t for name, t in found if not is_lazy(t)}


def _are_equal(state: Weights, trained: Weights, names: list[str]) -> bool:
    smallest = sorted(names, key=lambda name: trained[name].numel())[:_COMPARED]
    return all(Fingerprint.of(trained[name]).fits(state[name]) for name in smallest)


def _is_other(own: torch.Tensor, kept: Fingerprint) -> bool:
    return not is_lazy(own) and not own.is_meta and not kept.fits(own)


def _answers(answer: Any) -> int:
    """How many results a model gives beside a loss."""
    if isinstance(answer, torch.Tensor):
        return int(answer.is_floating_point() and answer.ndim > 0)
    parts = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, (list, tuple)) else ()
    return sum(_answers(part) for part in parts)


def _taken_at(called: Location | None, callee: str) -> Location | None:
    """The line that chose among the weights, of what a call is given."""
    given = argument_at(called, callee)
    return line_with(given, lambda node: isinstance(node, ast.DictComp))
