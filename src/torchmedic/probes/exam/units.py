"""The exam of layers: units that are copies of each other, and normalisation without memory."""

from __future__ import annotations

import ast
import weakref
from dataclasses import field
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmedic.facts import IdenticalUnits, Location, ShortNormMemory, StillNormStatistics
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.source.argument_lines import setting_made_at
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder, next_of

_LOOKS = (10, 30, 90)
_LEAST_UNITS = 4
_MOST_ELEMENTS = 4_000_000
_LONGEST_SHARE = 0.9
_KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_DRAWING = frozenset(("constant_", "zeros_", "ones_", "fill_", "zero_"))


@late_dataclass()
class _Layer:
    kind: str
    path: str
    units: int
    built: Location | None
    steps: list[int] = field(default_factory=list)
    differs: bool = False


class UnitExam(Probe):
    """Compares the rows of each weight at a few steps: equal rows with equal gradients stay equal for good."""

    name = "unit-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._layers: dict[int, _Layer] = {}
        self._norms: dict[int, ShortNormMemory] = {}
        self._still: dict[int, tuple[str, weakref.ref[_BatchNorm]]] = {}
        self._still_fact: StillNormStatistics | None = None
        self._was_evaluated = False

    def on_mode(self, module: Any, training: bool) -> None:
        if training or self.recorder.step == 0:
            return
        self._was_evaluated = True
        if self._still:
            self._look_at_still()

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.step in _LOOKS and not self.recorder.clock_is_held:
            with torch.no_grad():
                self._look()
        self.recorder.rest(self, next_of(_LOOKS, self.recorder.step))

    def _look(self) -> None:
        held = {id(p) for o in self._optimizers.alive() for p in parameters_of(o)}
        for root in self._modules.roots():
            for path, module in root.named_modules():
                if isinstance(module, _KINDS) and id(module.weight) in held:
                    self._look_at_layer(path, module)
                elif isinstance(module, _BatchNorm) and module.training and module.track_running_stats:
                    self._look_at_norm(path, module)

    def _look_at_layer(self, path: str, module: nn.Module) -> None:
        weight = module.weight
        known = self._layers.get(id(module))
        if not isinstance(weight, torch.Tensor) or (known is not None and known.differs):
            return
        if len(weight) < _LEAST_UNITS or weight.numel() > _MOST_ELEMENTS or weight.grad is None:
            return
        if known is None:
            name = type(module).__name__
            known = self._layers[id(module)] = _Layer(name, path, len(weight), self._modules.born_at(module))
        known.steps.append(self.recorder.step)
        # A layer that is given no gradient is another matter.
        known.differs = bool((weight != weight[:1]).any()) or not bool((weight.grad != 0).any())

    def _look_at_norm(self, path: str, module: _BatchNorm) -> None:
        if module.momentum == 0 and _is_untouched(module):
            self._still[id(module)] = path, weakref.ref(module)
        if module.momentum is not None and _LONGEST_SHARE <= module.momentum < 1:
            self._norms[id(module)] = ShortNormMemory(
                step=self.recorder.step,
                layer=type(module).__name__,
                momentum=float(module.momentum),
                layers=1,
                built=self._modules.born_at(module),
            )

    def on_finish(self) -> None:
        for layer in self._layers.values():
            if not layer.differs and len(layer.steps) > 1:
                self.recorder.observe(
                    IdenticalUnits(
                        step=layer.steps[-1],
                        layer=layer.kind,
                        path=layer.path,
                        units=layer.units,
                        steps=tuple(layer.steps),
                        built=layer.built,
                        drawn=_drawn_at(),
                    )
                )
        for norm in list(self._norms.values())[:8] if self._was_evaluated else ():
            self.recorder.observe(norm)
        if self._still_fact is not None:
            self.recorder.observe(self._still_fact)

    def _look_at_still(self) -> None:
        """When the model is put into evaluation mode: at the end of the run it may be gone."""
        known = [(path, module) for path, reference in self._still.values() if (module := reference()) is not None]
        still = [(path, module) for path, module in known if module.momentum == 0 and _is_untouched(module)]
        self._still_fact = None
        for path, module in still[:1]:
            tracked = module.num_batches_tracked
            self._still_fact = StillNormStatistics(
                step=self.recorder.step,
                layer=type(module).__name__,
                path=path,
                layers=len(still),
                batches=int(tracked) if tracked is not None else 0,
                built=self._modules.born_at(module),
                set_at=setting_made_at(type(module).__name__, "momentum"),
            )


def _is_untouched(module: _BatchNorm) -> bool:
    """Whether batches have gone through a layer, and its statistics are those of a new one all the same."""
    mean, variance, batches = module.running_mean, module.running_var, module.num_batches_tracked
    if mean is None or variance is None or batches is None or not int(batches):
        return False
    return not bool((mean != 0).any()) and not bool((variance != 1).any())


def _drawn_at() -> Location | None:
    """The first line that fills weights with one number."""
    for file in user_files():
        tree = parsed(file)
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)] if tree is not None else []
        lines = [c.lineno for c in calls if called_name(c) in _DRAWING and "weight" in ast.unparse(c)]
        if lines:
            return location(file, min(lines))
    return None
