"""The exam of gradients by depth: how much of the gradient at the last layers is left at the first ones."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchmedic.facts import GradientsByDepth, Location
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.objects.holdings import registered
from torchmedic.record import Probe, Recorder, next_of

_STEPS_LOOKED_AT = frozenset({2, 10, 30, 60, 120, 300})
_LEAST_LAYERS, _MOST_LAYERS = 4, 200


class GradientExam(Probe):
    """Compares the typical gradient of the weight matrices of one model at a few steps."""

    name = "gradient-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._steps: list[int] = []
        self._sizes: dict[str, list[float]] = {}
        self._built: dict[str, Location | None] = {}
        recorder.rest(self, until=min(_STEPS_LOOKED_AT))

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.step not in _STEPS_LOOKED_AT or self.recorder.clock_is_held:
            return
        if len(self._optimizers.alive()) != 1:
            return
        with torch.no_grad():
            self._look(optimizer)

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.step not in _STEPS_LOOKED_AT:
            self.recorder.rest(self, until=next_of(_STEPS_LOOKED_AT, self.recorder.step))

    def _look(self, optimizer: Any) -> None:
        owners = registered(self._modules.roots())
        weights = [p for g in optimizer.param_groups for p in g["params"] if p.ndim > 1 and id(p) in owners]
        learned = [p for p in weights if p.grad is not None and p.grad.layout == torch.strided][:_MOST_LAYERS]
        if len(learned) < _LEAST_LAYERS or any(type(p.grad) is not torch.Tensor for p in learned):
            return
        norms = torch.stack([n.double().cpu() for n in torch._foreach_norm([p.grad for p in learned])]).tolist()
        self._steps.append(self.recorder.step)
        for p, norm in zip(learned, norms, strict=True):
            owner = owners[id(p)]
            self._sizes.setdefault(owner.path, []).append(norm / math.sqrt(p.numel()))
            self._built.setdefault(owner.path, self._modules.born_at(owner.module))

    def on_finish(self) -> None:
        names = [name for name, sizes in self._sizes.items() if len(sizes) == len(self._steps)]
        if len(self._steps) < 3 or len(names) < _LEAST_LAYERS:
            return
        self.recorder.observe(
            GradientsByDepth(
                step=self.recorder.step,
                steps=tuple(self._steps),
                names=tuple(names),
                sizes=tuple(tuple(self._sizes[name]) for name in names),
                built=tuple(self._built[name] for name in names),
            )
        )
