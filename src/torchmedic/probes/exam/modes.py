"""The exam of modes: training steps in evaluation mode, evaluation in training mode, dropout that knows no mode."""

from __future__ import annotations

import functools
import sys
import weakref
from collections import Counter
from dataclasses import field
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from torchmedic.facts import FunctionalDropout, Location, TrainedInEval
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.exam.frozen_norms import FrozenNorms
from torchmedic.probes.exam.moving_norms import MovingNorms
from torchmedic.probes.exam.switching import switching_line
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.sources import dropout_calls
from torchmedic.record import Probe, Recorder, shielded

_EVERY_STEP_UNTIL = 60
_STEPS_AFTER_A_SWITCH = 60
_THEN_EVERY = 8


@late_dataclass()
class _Model:
    """A root module whose mode was switched, and the training steps it was seen in."""

    type: str
    layers: dict[str, int]
    eval_calls: int = 0
    train_calls: int = 0
    eval_called: Location | None = None
    train_called: Location | None = None
    evaluated: bool = False
    seen: int = 0
    in_eval: int = 0
    first_in_eval: int = 0
    stepped: Location | None = None
    left_at: Location | None = None
    unmeasured: int = 0
    noted_dropout: bool = False
    sensitive: list[weakref.ref[nn.Module]] = field(default_factory=list)
    trained_by: dict[int, bool] = field(default_factory=dict)

    def is_trained_by(self, optimizer: Any, module: nn.Module) -> bool:
        """Whether an optimizer steps on this model, and not on another one that is trained later."""
        if id(optimizer) not in self.trained_by:
            held = {id(p) for group in optimizer.param_groups for p in group["params"]}
            self.trained_by[id(optimizer)] = any(id(p) in held for p in module.parameters() if p.requires_grad)
        return self.trained_by[id(optimizer)]


class ModeExam(Probe):
    """Watches `train()` and `eval()` of whole models, and in which mode the training steps run."""

    name = "mode-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._models: dict[int, tuple[weakref.ref[nn.Module], _Model]] = {}
        self._dropouts: list[FunctionalDropout] = []
        self._norms = FrozenNorms()
        self._moving = MovingNorms()
        self._train_called: Location | None = None
        self._switching = False
        self._waiting = False
        self._rest_from = _EVERY_STEP_UNTIL
        original = nn.Module.train
        switched = shielded(self)(self._switched)

        @functools.wraps(original)
        def train(module: nn.Module, mode: bool = True) -> Any:
            if self._switching or not recorder.is_ours:
                with frame_hidden:
                    return original(module, mode)
            self._switching = True
            try:
                with frame_hidden:
                    result = original(module, mode)
            finally:
                self._switching = False
            switched(module, mode)
            return result

        self._patches.replace(nn.Module, "train", train)

    def remove(self) -> None:
        self._patches.restore()

    def _switched(self, module: nn.Module, mode: bool) -> None:
        """Note a call on a whole model. Torch and frameworks may call it too: then there is no line to edit."""
        if isinstance(module, _BatchNorm) and not mode:
            self._norms.note(module, user_location())
        self.recorder.emit("on_any_mode", module, mode)
        model = self._model(module)
        if model is None:
            return
        self._rest_from = self.recorder.step + _STEPS_AFTER_A_SWITCH
        self.recorder.wake(self)
        self.recorder.emit("on_mode", module, mode)
        if mode:
            model.train_calls += 1
            model.train_called = self._train_called = switching_line(sys._getframe(1))
            return
        model.eval_calls += 1
        model.eval_called = switching_line(sys._getframe(1))
        if not model.noted_dropout:
            self._note_functional_dropout(module, model)
        if not self._waiting:
            self._waiting = True
            self._modules.listen(self.name)

    def eval_calls(self, key: int) -> int:
        """How often `eval()` was called on a model, by its `id`."""
        kept = self._models.get(key)
        return kept[1].eval_calls if kept else 0

    def on_forward(self, module: nn.Module) -> None:
        """The first call after `eval()` tells whether it was for an evaluation."""
        if self._waiting:
            self._waiting = False
            self._modules.stop_listening(self.name)
            if not torch.is_grad_enabled():
                for reference, model in self._models.values():
                    whole = reference()
                    # Frameworks hang the network below a module of theirs, and scripts call either.
                    if whole is not None and any(part is module for part in whole.modules()):
                        model.evaluated = True

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        step = self.recorder.step
        if self.recorder.clock_is_held:
            return
        if step > self._rest_from:
            # A mode changes by a call, which wakes this; looking again now and then is for flags set by hand.
            self.recorder.rest(self, until=step + max(_THEN_EVERY, step // _THEN_EVERY))
        self._norms.look()
        self._moving.look(optimizer, self._modules.roots)
        for reference, model in list(self._models.values()):
            module = reference()
            if module is None or not model.eval_calls or not model.layers or not model.is_trained_by(optimizer, module):
                continue
            model.seen += 1
            if not module.training and not any(m is not None and m.training for m in (r() for r in model.sensitive)):
                self._note_in_eval(model, step)

    def _note_in_eval(self, model: _Model, step: int) -> None:
        model.in_eval += 1
        if model.in_eval == 1:
            model.first_in_eval = step
            model.stepped = user_location()
            model.left_at = model.eval_called
            model.unmeasured = sum(_is_unmeasured(m) for m in (r() for r in model.sensitive) if m is not None)

    def on_finish(self) -> None:
        for _, model in self._models.values():
            if model.in_eval:
                self.recorder.observe(_trained_in_eval(model))
        norms = (*self._norms.facts(self._train_called), *self._moving.facts(self._train_called))
        for fact in (*self._dropouts, *norms):
            self.recorder.observe(fact)

    def _model(self, module: nn.Module) -> _Model | None:
        kept = self._models.get(id(module))
        if kept is not None and kept[0]() is module:
            return kept[1]
        if not self._is_trained(module):
            return None
        sensitive = [m for m in module.modules() if depends_on_mode(m)]
        model = _Model(type(module).__name__, dict(Counter(type(m).__name__ for m in sensitive)))
        model.sensitive = [weakref.ref(m) for m in sensitive]
        self._models[id(module)] = (weakref.ref(module), model)
        return model

    def _is_trained(self, module: nn.Module) -> bool:
        """Whether this is a whole model in training: `backbone.eval()` is a choice, not an oversight."""
        held = {id(p) for o in self._optimizers.alive() for g in o.param_groups for p in g["params"] if p.requires_grad}
        own = [p for p in module.parameters() if p.requires_grad]
        return bool(own) and (not held or sum(id(p) in held for p in own) > len(own) // 2) and not self._is_part(module)

    def _is_part(self, module: nn.Module) -> bool:
        return all(root is not module for root in self._modules.roots())

    def _note_functional_dropout(self, module: nn.Module, model: _Model) -> None:
        model.noted_dropout = True
        for kind in dict.fromkeys(type(part) for part in module.modules()):
            for where, function in dropout_calls(kind):
                self._dropouts.append(
                    FunctionalDropout(
                        where=where, function=function, owner=kind.__name__, eval_called=model.eval_called
                    )
                )


def depends_on_mode(module: nn.Module) -> bool:
    if isinstance(module, _DropoutNd):
        return module.p > 0
    if isinstance(module, _BatchNorm):
        return module.track_running_stats
    if isinstance(module, nn.RNNBase):
        return module.dropout > 0
    return isinstance(module, nn.MultiheadAttention) and module.dropout > 0


def _is_unmeasured(module: nn.Module) -> bool:
    """A BatchNorm that has seen no batch yet, here or where it was loaded from: nobody means to keep its statistics."""
    if not isinstance(module, _BatchNorm) or module.running_mean is None or module.running_var is None:
        return False
    counted = module.num_batches_tracked is not None and int(module.num_batches_tracked) > 0
    return not counted and not bool(module.running_mean.any()) and bool((module.running_var == 1).all())


def _trained_in_eval(model: _Model) -> TrainedInEval:
    return TrainedInEval(
        model=model.type,
        layers=model.layers,
        steps_in_eval=model.in_eval,
        steps_seen=model.seen,
        first_step=model.first_in_eval,
        eval_called=model.left_at,
        eval_calls=model.eval_calls,
        train_called=model.train_called,
        train_calls=model.train_calls,
        evaluated=model.evaluated,
        unmeasured=model.unmeasured,
        stepped=model.stepped,
    )
