"""What activation functions put out in the examined steps: layers that are 0 for every input, or pressed to an end."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import ActivationSeen, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss.gates import RECURRENT, pressed_share
from torchmedic.probes.objects.name_paths import user_modules
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.record import Recorder

_RECTIFIERS = frozenset(("relu", "relu6", "threshold"))
_SQUASHERS = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99)}
LEARNED = frozenset(
    {
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "batch_norm",
        "layer_norm",
        "group_norm",
        "instance_norm",
        "matmul",
        "mm",
        "bmm",
        "addmm",
        "bilinear",
        "einsum",
        "rms_norm",
    }
)
_MOST_LOOKS = 60
_FILLING = ("constant_", "fill_", "copy_", "normal_", "uniform_", "sub_", "trunc_normal_")


@late_dataclass()
class _Series:
    """One activation in the code over the examined steps."""

    op: str
    where: Location | None
    expression: str
    layer: str
    layer_built: Location | None
    direct: bool
    fed_by: str
    fed_built: Location | None
    bias: tuple[float, float] | None = None
    bias_set: Location | None = None
    steps: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    last: bool = False


class Activations:
    """Collects series by place in the code and in the model."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._series: dict[tuple[Any, ...], _Series] = {}
        self._at: list[tuple[int, _Series]] = []

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        if call.name in RECURRENT:
            self._look_at_gates(call, args)
            return
        if (
            not isinstance(result, torch.Tensor)
            or not result.requires_grad
            or result.ndim < 2
            or not call.inside_module
        ):
            return
        if call.name not in _RECTIFIERS and call.name not in _SQUASHERS:
            return
        feeding = trace.maker_of_read(call.reads[0]) if call.reads else None
        if feeding is None or feeding.name not in LEARNED or len(self._at) >= _MOST_LOOKS:
            return
        values = result.detach()
        if call.name in _RECTIFIERS:
            share = float((values == 0).float().mean())
        else:
            low, high = _SQUASHERS[call.name]
            share = float(((values < low) | (values > high)).float().mean())
        self._add(call, feeding, share)

    def _look_at_gates(self, call: Call, args: tuple[Any, ...]) -> None:
        share = pressed_share(call.name, args) if call.inside_module and len(self._at) < _MOST_LOOKS else None
        if share is not None:
            self._add(call, call, share)

    def _add(self, call: Call, feeding: Call, share: float) -> None:
        series = self._of(call, feeding)
        series.steps.append(self._recorder.step)
        series.shares.append(share)
        self._at.append((call.index, series))

    def _of(self, call: Call, feeding: Call) -> _Series:
        place = call.place
        order = sum(1 for _, other in self._at if place is not None and other.where == place.location())
        key = (call.name, place.location() if place else None, order)
        if key not in self._series:
            self._series[key] = _Series(
                op=call.name,
                where=place.location() if place else None,
                expression=place.expression() if place else "",
                layer=type(call.layer).__name__ if call.layer is not None else "",
                layer_built=self._modules.born_at(call.layer) if call.layer is not None else None,
                direct=call.direct,
                fed_by=self._path(feeding.layer) or feeding.name,
                fed_built=self._modules.born_at(feeding.layer) if feeding.layer is not None else None,
                bias=_range_of(getattr(feeding.layer, "bias", None)),
            )
        return self._series[key]

    def _path(self, layer: Any) -> str:
        if layer is None:
            return ""
        for root in self._modules.roots():
            for path, module in root.named_modules():
                if module is layer:
                    return path if path and not path.isdigit() else f"{type(root).__name__}{path and f'[{path}]'}"
        return ""

    def close(self, trace: CallTrace) -> None:
        """At the end of a step: which activations feed no further learned operation."""
        for index, series in self._at:
            series.last = not _feeds_learned(trace, index)
        self._at.clear()

    def write(self) -> None:
        for s in self._series.values():
            self._recorder.observe(
                ActivationSeen(
                    step=self._recorder.step,
                    op=s.op,
                    where=s.where,
                    expression=s.expression,
                    layer=s.layer,
                    layer_built=s.layer_built,
                    direct=s.direct,
                    fed_by=s.fed_by,
                    fed_built=s.fed_built,
                    bias=s.bias,
                    bias_set=bias_line() if s.bias is not None and _is_pressed_down(*s.bias) else None,
                    steps=tuple(s.steps),
                    shares=tuple(s.shares),
                    is_last=s.last,
                )
            )


def _feeds_learned(trace: CallTrace, index: int) -> bool:
    reached = {index}
    for call in trace.calls[index + 1 :]:
        if any(read.maker in reached for read in call.reads):
            if call.name in LEARNED:
                return True
            reached.add(call.index)
    return False


def _range_of(bias: Any) -> tuple[float, float] | None:
    if not isinstance(bias, torch.Tensor) or not bias.numel():
        return None
    low, high = torch.aminmax(bias.detach())
    return float(low), float(high)


def _is_pressed_down(low: float, high: float) -> bool:
    """Far below 0, or filled with one number below it: a bias that is drawn lies on both sides."""
    return high < -1 or low == high < 0


def bias_line() -> Location | None:
    """The statement of the script that fills a bias."""
    for module in user_modules():
        tree = parsed(str(module.__file__))
        for node in ast.walk(tree) if tree is not None else ():
            is_filling = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _FILLING
            if isinstance(node, ast.Call) and is_filling and "bias" in ast.unparse(node):
                return location(str(module.__file__), node.lineno)
    return None
