"""The exam of loaded BatchNorm layers: were the statistics that evaluation needs loaded with the weights?"""

from __future__ import annotations

import ast
import weakref
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy

from torchmedic.facts import FreshNorms, Location
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.making_lines import argument_at, line_with
from torchmedic.record import Probe, Recorder

_DEEPEST = 3
_MOST_NAMES = 8
_MOST_ENTRIES = 10_000


class FreshNormExam(Probe):
    """Looks at BatchNorm layers after `load_state_dict`, and again when the model is evaluated."""

    name = "fresh-norm-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._loaded: dict[int, tuple[weakref.ref[nn.Module], Location | None]] = {}
        self._saved: Location | None = None
        tell_after(self, self._patches, nn.Module, "load_state_dict", lambda _result, args: self._note_loaded(args[0]))
        tell_after(
            self, self._patches, torch, "save", lambda _result, args: self._note_saved(args[0] if args else None)
        )

    def remove(self) -> None:
        self._patches.restore()

    def on_forward(self, module: Any) -> None:
        kept = self._loaded.get(id(module))
        if kept is None or kept[0]() is None or self.recorder.clock_is_held:
            return
        del self._loaded[id(module)]
        norms = _norms(module)
        fresh = [path for path, norm in norms if _is_half_loaded(norm)]
        if module.training or not fresh:
            return
        self.recorder.observe(
            FreshNorms(
                step=self.recorder.step,
                model=type(module).__name__,
                layers=tuple(fresh[:_MOST_NAMES]),
                of=len(norms),
                loaded=kept[1],
                evaluated=user_location(),
                saved=self._saved,
            )
        )

    def _note_loaded(self, module: nn.Module) -> None:
        if any(_is_half_loaded(norm) for _, norm in _norms(module)):
            self._loaded[id(module)] = (weakref.ref(module), user_location())
        else:
            self._loaded.pop(id(module), None)

    def _note_saved(self, thing: Any) -> None:
        if self._saved is None and _lacks_buffers(thing):
            saved = user_location()
            self._saved = _taken_at(saved) or saved


def _taken_at(saved: Location | None) -> Location | None:
    """The line that took the weights, of what is saved at a line; None where it is that line or cannot be found."""
    start = argument_at(saved, "save")
    return line_with(start, _takes_parameters) or line_with(start, lambda node: isinstance(node, ast.DictComp))


def _takes_parameters(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in ("named_parameters", "parameters")


def _norms(module: nn.Module) -> list[tuple[str, _BatchNorm]]:
    return [(path, part) for path, part in module.named_modules() if isinstance(part, _BatchNorm)]


def _is_half_loaded(norm: _BatchNorm) -> bool:
    """The weights have been trained, and no batch has ever been counted in the statistics."""
    mean, variance, batches = norm.running_mean, norm.running_var, norm.num_batches_tracked
    if mean is None or variance is None or batches is None or norm.weight is None:
        return False
    if norm.weight.is_meta or is_lazy(norm.weight):
        return False
    is_trained = bool((norm.weight != 1).any()) and bool((norm.bias != 0).any())
    return is_trained and int(batches) == 0 and not bool(mean.any()) and bool((variance == 1).all())


def _lacks_buffers(thing: Any, depth: int = _DEEPEST) -> bool:
    """Whether a dictionary to be saved holds weights by name, and no statistics of a BatchNorm among them."""
    if not isinstance(thing, dict) or depth == 0 or len(thing) > _MOST_ENTRIES:
        return False
    names = [key for key, value in pairs_in(thing) if isinstance(key, str) and isinstance(value, torch.Tensor)]
    if any(name.endswith("weight") for name in names):
        return not any(name.endswith("running_mean") for name in names)
    return any(_lacks_buffers(value, depth - 1) for _, value in pairs_in(thing))
