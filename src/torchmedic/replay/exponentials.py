"""Exponentials behind a loss that exploded: which line made the largest numbers, and of which argument."""

from __future__ import annotations

import math
import os
from typing import Any

import torch

from torchmedic.facts import ExponentialSeen
from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.trace import Op, Trace
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Probe, Recorder
from torchmedic.replay.ancestry import base_name

# Each with its inverse: what a view of a larger tensor holds is not known by the range of the whole.
_EXPONENTIALS = {"exp": math.log, "expm1": math.log1p, "exp2": math.log2, "sinh": math.asinh, "cosh": math.acosh}
_MOST_OPS = 200_000


def largest_exponential(trace: Trace, start: int, step: int, loss: float) -> ExponentialSeen | None:
    """The line whose exponentials make the most of the size of what `start` has computed."""
    lines: dict[str, list[Op]] = {}
    for op in trace.ancestors(start):
        if op.phase == "forward" and op.place is not None and base_name(op.name) in _EXPONENTIALS:
            lines.setdefault(str(op.place.location()), []).append(op)
    calls = max(lines.values(), key=_powers, default=[])
    if not _powers(calls):
        return None
    largest = max(calls, key=_made)
    place = largest.place
    assert place is not None
    names = operand_names(place.expression())
    return ExponentialSeen(
        step=step,
        where=place.location(),
        op=base_name(largest.name),
        expression=place.expression(),
        argument=names[0] if len(names) == 1 else "",
        reached=_EXPONENTIALS[base_name(largest.name)](_made(largest)),
        made=_made(largest),
        calls=len(calls),
        powers=_powers(calls),
        loss=loss,
    )


def _made(op: Op) -> float:
    return max((abs(seen.high) for seen in op.outputs if math.isfinite(seen.high)), default=0.0)


def _powers(calls: list[Op]) -> float:
    """The powers of ten that calls one after the other can enlarge something by."""
    return sum(math.log10(made) for op in calls if (made := _made(op)) > 1)


class Exponentials(Probe):
    """In a second, silent run: looks at every value of one step, up to its backward."""

    name = "exponentials"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._trace: Trace | None = None

    def on_step_done(self, optimizer: Any) -> None:
        if self._trace is None and self.recorder.step + 1 >= (self.recorder.settings.until_step or 1):
            self._trace = Trace(values=True)
            self._trace.name_modules(self._modules.roots())
            self._trace.__enter__()

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._trace is None or len(roots) != 1 or not torch.is_grad_enabled():
            return
        self._trace.__exit__(None, None, None)
        start, loss = self._trace.maker_of(roots[0]), scalar(roots[0], wait=True)
        if start is not None and loss is not None and len(self._trace.ops) <= _MOST_OPS:
            seen = largest_exponential(self._trace, start, self.recorder.step + 1, loss)
            if seen is not None:
                self.recorder.observe(seen)
        self.recorder.flush()
        os._exit(0)
