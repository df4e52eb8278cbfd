"""The exam of short formats: does an update change the weights at all, or does rounding swallow it."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import RoundedAway
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.weight_casts import SHORT, WeightCasts
from torchmedic.probes.objects.holdings import registered
from torchmedic.record import Probe, Recorder, next_of

_STEPS_LOOKED_AT = frozenset({2, 5, 10, 20, 40})
_MOST_VALUES = 100_000
_MOST_PARAMETERS = 8


@late_dataclass()
class _Before:
    parameter: torch.Tensor
    values: torch.Tensor
    active: torch.Tensor


class RoundingExam(Probe):
    """Compares weights in bf16 or fp16 before and after a few early steps, where their gradient is not 0."""

    name = "rounding-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._before: list[_Before] = []
        self._still: dict[str, list[float]] = {}
        self._facts: dict[str, RoundedAway] = {}
        self._casts = WeightCasts()
        recorder.rest(self, until=min(_STEPS_LOOKED_AT))

    def remove(self) -> None:
        self._casts.restore()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._before = []
        if self.recorder.step not in _STEPS_LOOKED_AT or self.recorder.clock_is_held:
            return
        for p in [p for g in optimizer.param_groups for p in g["params"]]:
            if p.dtype in SHORT and p.grad is not None and p.grad.layout == torch.strided and p.numel() <= _MOST_VALUES:
                active = p.grad.detach() != 0
                self._before.append(_Before(p, p.detach().clone(), active))
            if len(self._before) == _MOST_PARAMETERS:
                return

    def on_step_done(self, optimizer: Any) -> None:
        self._compare(optimizer)
        if self.recorder.step not in _STEPS_LOOKED_AT:
            self.recorder.rest(self, until=next_of(_STEPS_LOOKED_AT, self.recorder.step))

    def _compare(self, optimizer: Any) -> None:
        if not self._before:
            return
        owners = registered(self._modules.roots())
        lr = max(float(g.get("lr", 0.0)) for g in optimizer.param_groups)
        for before in self._before:
            count = int(before.active.sum())
            owner = owners.get(id(before.parameter))
            if not count or owner is None or lr == 0:
                continue
            same = int(((before.values == before.parameter.detach()) & before.active).sum())
            self._still.setdefault(owner.path, []).append(same / count)
            typical = float(before.values.float().abs().median())
            self._facts[owner.path] = RoundedAway(
                name=owner.path,
                dtype=str(before.parameter.dtype).removeprefix("torch."),
                unchanged=same / count,
                looked_at=count,
                typical_weight=typical,
                spacing=typical * float(torch.finfo(before.parameter.dtype).eps),
                lr=lr,
                born=self._casts.cast_at(before.parameter) or self._modules.born_at(owner.module),
                optimizer_built=self._optimizers.built_at(optimizer),
                step=self.recorder.step,
            )
        self._before = []

    def on_finish(self) -> None:
        for name, shares in self._still.items():
            if len(shares) >= 3:
                self.recorder.observe(self._facts[name])
