"""The exam of a loaded optimizer: does its state belong to its parameters, and did it come through the file whole."""

from __future__ import annotations

import functools
from typing import Any

import torch

from torchmedic.facts import LostMoments, StateOfOtherParameter
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.exam.lost_moments import lost_moments, type_of_entry
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOADS = 20
# Entries that torch's own optimizers keep in the shape of their parameter; others may be factored or packed.
_SHAPED_ALIKE = (
    "exp_avg",
    "exp_avg_sq",
    "max_exp_avg_sq",
    "momentum_buffer",
    "square_avg",
    "grad_avg",
    "acc_delta",
    "exp_inf",
    "prev",
    "ax",
)


class OptimizerStateExam(Probe):
    """Compares shapes, and names where the state has them, at every `load_state_dict`; costs nothing in a step."""

    name = "optimizer-state-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._loads = 0
        original = torch.optim.Optimizer.load_state_dict
        names_of, examine = shielded(self)(_names), shielded(self)(self._examine)
        weigh = shielded(self)(self._weigh)

        @functools.wraps(original)
        def load_state_dict(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            watched = self.recorder.is_ours and self._loads < _MOST_LOADS
            # Loading puts the names of the state in the place of the optimizer's own.
            own = names_of(optimizer.param_groups) if watched else None
            with frame_hidden:
                result = original(optimizer, *args, **kwargs)
            if watched:
                self._loads += 1
                examine(optimizer, own or [])
                weigh(optimizer, kwargs.get("state_dict", args[0] if args else None))
            return result

        self._patches.replace(torch.optim.Optimizer, "load_state_dict", load_state_dict)

    def remove(self) -> None:
        self._patches.restore()

    def _examine(self, optimizer: Any, own: list[str]) -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        fact = self._by_shape(optimizer, parameters) or self._by_name(optimizer, parameters, own)
        if fact is not None:
            self.recorder.observe(fact)

    def _weigh(self, optimizer: Any, given: Any) -> None:
        found = lost_moments(optimizer)
        if found is None:
            return
        self.recorder.observe(
            LostMoments(
                optimizer=type(optimizer).__name__,
                loaded=user_location(),
                entry=found.entry,
                entry_type=type_of_entry(given, found.entry),
                moved=found.moved,
                lost=found.lost,
                largest=found.largest,
                eps=found.eps,
                parameter=self._parameter_names().get(id(found.parameter), ""),
                step=self.recorder.step,
            )
        )

    def _by_shape(self, optimizer: Any, parameters: list[Any]) -> StateOfOtherParameter | None:
        strange = [
            (position, key, tuple(entry.shape))
            for position, p in enumerate(parameters)
            for key, entry in list(optimizer.state.get(p, {}).items())
            if key in _SHAPED_ALIKE and isinstance(entry, torch.Tensor) and entry.shape != p.shape
        ]
        if not strange:
            return None
        position, key, shape = strange[0]
        names = self._parameter_names()
        fitting = [p for p in parameters if tuple(p.shape) == shape]
        return self._fact(
            optimizer,
            parameters,
            position=position,
            wrong=len({at for at, _, _ in strange}),
            parameter=names.get(id(parameters[position]), ""),
            entry=key,
            entry_shape=shape,
            owner=names.get(id(fitting[0]), "") if len(fitting) == 1 else "",
        )

    def _by_name(self, optimizer: Any, parameters: list[Any], own: list[str]) -> StateOfOtherParameter | None:
        """The same names in another order: the shapes may fit by chance."""
        saved = _names(optimizer.param_groups)
        if not own or len(own) != len(parameters) or own == saved or sorted(own) != sorted(saved):
            return None
        wrong = [i for i, (here, there) in enumerate(zip(own, saved, strict=True)) if here != there]
        kept = optimizer.state.get(parameters[wrong[0]], {})
        entry = next((key for key in _SHAPED_ALIKE if isinstance(kept.get(key), torch.Tensor)), "")
        if not entry:
            return None
        return self._fact(
            optimizer,
            parameters,
            position=wrong[0],
            wrong=len(wrong),
            parameter=own[wrong[0]],
            entry=entry,
            entry_shape=tuple(kept[entry].shape),
            owner=saved[wrong[0]],
            by_name=True,
        )

    def _fact(self, optimizer: Any, parameters: list[Any], position: int, **found: Any) -> StateOfOtherParameter:
        return StateOfOtherParameter(
            optimizer=type(optimizer).__name__,
            loaded=user_location(),
            built=self._optimizers.built_at(optimizer),
            position=position,
            parameters=len(parameters),
            groups=len(optimizer.param_groups),
            shape=tuple(parameters[position].shape),
            step=self.recorder.step,
            **found,
        )

    def _parameter_names(self) -> dict[int, str]:
        return {id(p): name for root in self._modules.roots() for name, p in root.named_parameters()}


def _names(groups: list[dict[str, Any]]) -> list[str]:
    """The names that an optimizer built over named parameters keeps of them."""
    return [str(name) for group in groups for name in group.get("param_names", ())]
