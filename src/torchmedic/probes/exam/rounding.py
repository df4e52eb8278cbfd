"""The exam of short formats: does an update change the weights at all, or does rounding swallow it."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import Location, RoundedAway
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.objects.holdings import registered
from torchmedic.probes.source.expressions import enclosing_function, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward
from torchmedic.record import Probe, Recorder, next_of

_STEPS_LOOKED_AT = frozenset({2, 5, 10, 20, 40})
_SHORT = (torch.bfloat16, torch.float16)
_MOST_VALUES = 100_000
_MOST_PARAMETERS = 8
_CASTS = {"bfloat16": torch.bfloat16, "half": torch.float16}


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
        recorder.rest(self, until=min(_STEPS_LOOKED_AT))

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._before = []
        if self.recorder.step not in _STEPS_LOOKED_AT or self.recorder.clock_is_held:
            return
        for p in [p for g in optimizer.param_groups for p in g["params"]]:
            if (
                p.dtype in _SHORT
                and p.grad is not None
                and p.grad.layout == torch.strided
                and p.numel() <= _MOST_VALUES
            ):
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
                born=_cast_at(before.parameter, sys._getframe(1)) or self._modules.born_at(owner.module),
                optimizer_built=self._optimizers.built_at(optimizer),
                step=self.recorder.step,
            )
        self._before = []

    def on_finish(self) -> None:
        for name, shares in self._still.items():
            if len(shares) >= 3:
                self.recorder.observe(self._facts[name])


def _cast_at(parameter: torch.Tensor, frame: FrameType) -> Location | None:
    """The line of a running function, or of the script, that casts a module with this parameter to its short format."""
    for each in outward(frame):
        file = each.f_code.co_filename
        tree = parsed(file) if is_user_file(file) else None
        for node in ast.walk(enclosing_function(tree, each)) if tree is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = peek(node.func.value, each)
                if _format_of(node, node.func.attr, each) is parameter.dtype and _holds(held, parameter):
                    return location(file, node.func.end_lineno or node.lineno, each.f_code.co_qualname)
    return None


def _format_of(call: ast.Call, method: str, frame: FrameType) -> Any:
    """The format that `x.half()` or `x.to(device, torch.half)` asks for; None where it asks for none."""
    if method not in ("to", "type"):
        return _CASTS.get(method)
    given = (peek(argument, frame) for argument in (*call.args, *(keyword.value for keyword in call.keywords)))
    return next((value for value in given if isinstance(value, torch.dtype)), None)


def _holds(held: Any, parameter: torch.Tensor) -> bool:
    return isinstance(held, torch.nn.Module) and any(p is parameter for p in held.parameters())
