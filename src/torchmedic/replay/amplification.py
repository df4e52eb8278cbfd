"""A second, silent run that finds the line which makes values enormous in the very first step."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.facts import Amplification, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.trace import Op, Seen, Trace, storage_key
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder
from torchmedic.replay.sums import sums_in

_MOST_OPS = 200_000
# How much more the calls of weights that one line has set must do than those of one line, for the first to be named.
_CLEARLY_MORE = 1.1
_SETTERS = ("normal_", "uniform_", "copy_", "mul_", "fill_")
_LARGEST = float(torch.finfo(torch.float32).max)


@late_dataclass()
class _Stage:
    """One operation on the way of the largest values: their magnitude before and after it, the weight it read."""

    op: Op
    before: float
    after: float
    weight: int | None

    @property
    def gain(self) -> float:
        """In powers of ten; nothing where one end is not known."""
        return math.log10(self.after / self.before) if self.before > 0 and self.after > 0 else 0.0


class Amplifications(Probe):
    """Notes who sets weights, then looks at every value of the first training step and follows the largest."""

    name = "amplification"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._trace: Trace | None = None
        self._written: dict[int, tuple[Location | None, str]] = {}
        self._patches = Patches()
        for name, function in list(vars(nn.init).items()):
            if name.endswith("_") and not name.startswith("_") and callable(function):
                self._watch(nn.init, name, 0)
        for name in _SETTERS:
            self._watch(torch.Tensor, name, 0)
        self._watch(nn.Module, "register_parameter", 2)

    def remove(self) -> None:
        self._patches.restore()

    def _watch(self, owner: Any, name: str, position: int) -> None:
        """Have every call of a function noted as the one that set the values of an argument."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            tensor = args[position] if len(args) > position else kwargs.get("tensor", kwargs.get("param"))
            if isinstance(tensor, torch.Tensor):
                self._written[storage_key(tensor)] = (user_location(), name if owner is not nn.Module else "")
            return result

        self._patches.replace(owner, name, watched)

    def on_forward(self, module: Any) -> None:
        if self._trace is None and torch.is_grad_enabled():
            self._trace = Trace(values=True)
            self._trace.name_modules(self._modules.roots())
            self._trace.__enter__()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._trace is None or len(roots) != 1:
            return
        self._trace.__exit__(None, None, None)
        start = self._trace.maker_of(roots[0])
        if start is not None and len(self._trace.ops) <= _MOST_OPS:
            self._conclude(self._trace, start, scalar(roots[0], wait=True))
        self.recorder.flush()
        os._exit(0)

    def _conclude(self, trace: Trace, start: int, loss: float | None) -> None:
        for summed in sums_in(trace, start, self._modules, loss) if loss is not None else ():
            self.recorder.observe(summed)
        all_named = (pair for root in self._modules.roots() for pair in root.named_parameters() if not is_lazy(pair[1]))
        parameters = {storage_key(p): (n, p) for n, p in all_named}
        stages = list(_inside_network(_way_of_largest(trace, start, set(parameters))))
        guilty = self._guilty(stages)
        if not guilty:
            return
        heaviest = max((s for s in guilty if s.weight is not None), key=lambda s: s.gain, default=None)
        name, weight = parameters[heaviest.weight] if heaviest is not None and heaviest.weight else ("", None)
        written, how = self._set_at(storage_key(weight)) if weight is not None else (None, "")
        named = heaviest or max(guilty, key=lambda s: s.gain)
        place = named.op.place
        self.recorder.observe(
            Amplification(
                step=1,
                where=place.location() if place is not None else None,
                expression=place.expression() if place is not None else "",
                calls=sum(s.op.name == named.op.name for s in guilty),
                before=next((s.before for s in reversed(guilty) if s.before > 0), 0.0),
                after=guilty[0].after,
                gain=10 ** min(_sum(guilty), 300),
                total=10 ** min(_sum(stages), 300),
                loss=loss,
                weight=name,
                shape=tuple(weight.shape) if weight is not None else (),
                spread=float(weight.detach().float().std(correction=0)) if weight is not None else 0.0,
                written=written,
                how=how,
                weights=len({s.weight for s in guilty if s.weight and self._set_at(s.weight) == (written, how)}) or 1,
            )
        )

    def _set_at(self, weight: int) -> tuple[Location | None, str]:
        return self._written.get(weight, (None, ""))

    def _guilty(self, stages: list[_Stage]) -> list[_Stage]:
        """The calls of the line that enlarges most; those of all weights that one line has set, where they do more."""
        lines: dict[tuple[str, int], list[_Stage]] = {}
        setters: dict[str, list[_Stage]] = {}
        behind: list[_Stage] = []  # what comes after a weight and has none: its activation, which may shrink again
        for stage in stages:
            if stage.op.place is not None:
                lines.setdefault((stage.op.place.code.co_filename, stage.op.place.line), []).append(stage)
            behind.append(stage)
            written, how = self._set_at(stage.weight) if stage.weight is not None else (None, "")
            if how and stage.op.place is not None:
                setters.setdefault(str(written), []).extend(behind)
            behind = behind if stage.weight is None else []
        by_line, by_setter = (max(groups.values(), key=_sum, default=[]) for groups in (lines, setters))
        return by_setter if _sum(by_setter) > _CLEARLY_MORE * _sum(by_line) else by_line


def _sum(stages: list[_Stage]) -> float:
    return sum(stage.gain for stage in stages)


def _way_of_largest(trace: Trace, start: int, parameters: set[int]) -> Iterator[_Stage]:
    """From the loss back to the input, at each operation by the operand whose values are the largest."""
    index: int | None = start
    while index is not None:
        op = trace.ops[index]
        read = [s for s in op.inputs if s.is_float and s.key not in parameters and _precedes(s, index)]
        largest = max(read, key=lambda s: _magnitude(trace, s), default=None)
        yield _Stage(
            op=op,
            before=_magnitude(trace, largest) if largest is not None else 0.0,
            after=max((_magnitude(trace, s) for s in op.outputs if s.is_float), default=0.0),
            weight=_weight_of(op, parameters),
        )
        index = largest.maker if largest is not None else None


def _weight_of(op: Op, parameters: set[int]) -> int | None:
    """The parameter that an operation multiplies by: the largest it reads, the others are biases."""
    read = [s for s in op.inputs if s.key in parameters]
    return max(read, key=lambda s: math.prod(s.shape)).key if read else None


def _inside_network(stages: Iterator[_Stage]) -> Iterator[_Stage]:
    """Without what the loss makes of the network's answer: squares of large numbers are larger still."""
    is_inside = False
    for stage in stages:
        is_inside = is_inside or stage.weight is not None
        if is_inside:
            yield stage


def _precedes(seen: Seen, index: int) -> bool:
    return seen.maker is not None and seen.maker < index


def _magnitude(trace: Trace, seen: Seen) -> float:
    """The largest absolute value of a tensor that an operation of the trace made; of infinity, the largest number."""
    made = trace.ops[seen.maker].outputs if seen.maker is not None else []
    looked = seen if seen.looked_at else next((s for s in made if s.key == seen.key and s.looked_at), None)
    if looked is None:
        return 0.0
    return max(abs(looked.low), abs(looked.high)) if not looked.is_bad else _LARGEST
