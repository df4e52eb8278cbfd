"""The exam of gradients that enter the loss: those of scaled values have to be divided by the scale first."""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.amp import grad_scaler
from torch.utils._python_dispatch import _disable_current_modes

from torchmedic.facts import Location, ScaledGradient
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.graph.graph_walk import graph
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location_of, user_frame
from torchmedic.probes.source.positions import expression_at, parsed_expression
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Probe, Recorder

_STEPS_LOOKED_AT = 8
_LEAST_TIMES = 2
_WEIGHT = 16  # of a term, which may be multiplied into the factor that unscales it


@late_dataclass()
class _Scaled:
    """Values that a scaler has multiplied, and the call that did it."""

    tensor: weakref.ref[torch.Tensor]
    scale: float
    where: Location | None
    text: str


@late_dataclass()
class _Open:
    """A gradient of scaled values: the node that made it, and where that was."""

    node: Any
    scaled: _Scaled
    text: str
    where: Location


class ScaledGradientExam(Probe):
    """Follows, in the first steps, what `torch.autograd.grad` gives for values that a scaler has multiplied."""

    name = "scaled-gradient-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._scaled: list[_Scaled] = []
        self._open: list[_Open] = []
        self._seen: dict[Location, list[_Open]] = {}
        scaler = grad_scaler.GradScaler
        tell_after(self, self._patches, scaler, "scale", lambda result, args: self._note_scaled(args[0], result))

    def remove(self) -> None:
        self._patches.restore()
        self._open.clear()

    def _note_scaled(self, scaler: Any, result: Any) -> None:
        if self.recorder.step >= _STEPS_LOOKED_AT or not scaler.is_enabled():
            return
        tensors = result if isinstance(result, (list, tuple)) else (result,)
        scale = float(scaler.get_scale())
        frame = user_frame(sys._getframe(1))
        where = location_of(frame) if frame is not None else None
        text = expression_at(frame.f_code, frame.f_lasti) if frame is not None else ""
        self._scaled = [kept for kept in self._scaled if kept.tensor() is not None]
        self._scaled += [_Scaled(weakref.ref(t), scale, where, text) for t in tensors if isinstance(t, torch.Tensor)]

    def on_gradient_done(self, outputs: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
        if not self._scaled or self.recorder.step >= _STEPS_LOOKED_AT or self.recorder.clock_is_held:
            return
        scaled = next((kept for kept in self._scaled for one in outputs if kept.tensor() is one), None)
        frame = user_frame(sys._getframe(1))
        if scaled is None or scaled.scale == 1.0 or frame is None:
            return
        for gradient in gradients:
            node = getattr(gradient, "grad_fn", None)
            if node is not None:
                text = expression_at(frame.f_code, frame.f_lasti)
                self._open.append(_Open(node, scaled, text, location_of(frame)))

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.step >= _STEPS_LOOKED_AT:
            self.recorder.rest(self)
        edges = list(graph(roots)) if self._open else []
        readers: dict[Any, list[Any]] = {}
        for node, following in edges:
            readers.setdefault(following, []).append(node)
        for one in self._open:
            if one.node in readers and not _is_unscaled(one, readers):
                self._seen.setdefault(one.where, []).append(one)
        self._open.clear()

    def on_finish(self) -> None:
        for where, seen in self._seen.items():
            if len(seen) >= _LEAST_TIMES:
                one = seen[0]
                self.recorder.observe(
                    ScaledGradient(
                        step=0,
                        where=where,
                        text=one.text,
                        name=_name_given(file_at(where), where.line),
                        values=_outputs(one.text),
                        scaler=one.scaled.text.rpartition(".scale(")[0] if one.scaled.text.endswith(")") else "",
                        scaled=one.scaled.where,
                        scale=one.scaled.scale,
                        times=len(seen),
                    )
                )


def _is_unscaled(one: _Open, readers: dict[Any, list[Any]]) -> bool:
    """Whether the way from a gradient to the loss divides by the scale, or by something of the gradient itself."""
    waiting, on_way = [one.node], {one.node}
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in on_way:
                on_way.add(reader)
                waiting.append(reader)
    return any(_divides(node, one.scaled.scale) or _is_ratio(node, on_way) for node in on_way if node is not one.node)


def _divides(node: Any, scale: float) -> bool:
    for number in _factors(node):
        is_small = node.name().startswith("Mul") and 0 < abs(number) * scale <= _WEIGHT
        if is_small or (node.name().startswith("Div") and abs(number) * _WEIGHT >= scale):
            return True
    return False


def _factors(node: Any) -> Iterator[float]:
    """The number that a product or a quotient has beside its tensor."""
    if not node.name().startswith(("Mul", "Div")):
        return
    for saved in ("_saved_other", "_saved_self"):
        value = getattr(node, saved, None)
        if isinstance(value, torch.Tensor) and (value.numel() != 1 or value.requires_grad):
            continue
        if isinstance(value, (torch.Tensor, int, float)):
            # A mode that looks at operations gets a number that was written as such as a float, not as a tensor.
            with _disable_current_modes():
                number = float(value)
            yield number


def _is_ratio(node: Any, on_way: set[Any]) -> bool:
    """Whether both sides of a quotient come from the gradient: its direction, or how it compares with another."""
    name = node.name()
    if name.startswith(("CosineSimilarity", "Log")):
        return True
    return name.startswith("Div") and sum(following in on_way for following, _ in node.next_functions) > 1


def _outputs(text: str) -> str:
    """What a call of `grad` is asked the gradient of, as it is written."""
    call = parsed_expression(text)
    if not isinstance(call, ast.Call):
        return ""
    named = [k.value for k in call.keywords if k.arg == "outputs"]
    given = named or call.args[:1]
    return ast.unparse(given[0]) if given else ""


def _name_given(file: str, line: int) -> str:
    """The variable that the call at a line is assigned to."""
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            target = node.targets[0]
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call) and "grad" in called_name(n)]
            if calls and parts and isinstance(parts[0], (ast.Name, ast.Attribute)):
                return ast.unparse(parts[0])
    return ""
