"""A second, silent run in which one line takes means where it took sums: what is the first loss then."""

from __future__ import annotations

import math
import os
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchmedic.facts import SumTrial
from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.source.frames import location_of, user_frame
from torchmedic.record import Probe, Recorder
from torchmedic.replay.sums import PRODUCTS, SUMS


class Averaging(Probe):
    """Puts means in place of the sums of the line that the settings name, until the first backward."""

    name = "averaging"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._means: Means | None = None

    def on_forward(self, module: Any) -> None:
        if self._means is None and torch.is_grad_enabled():
            self._means = Means(self.recorder.settings.trial)
            self._means.__enter__()  # type: ignore[no-untyped-call]

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._means is None or len(roots) != 1:
            return
        self._means.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        loss, line = scalar(roots[0], wait=True), self.recorder.settings.trial
        if loss is not None:
            self.recorder.observe(SumTrial(step=1, line=line, loss=loss, replaced=self._means.replaced))
        self.recorder.flush()
        os._exit(0)


class Means(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Divides what sums of a line give by the number of their terms. Its results carry no right gradient."""

    def __init__(self, line: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._line = line
        self.replaced = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        is_float = isinstance(result, torch.Tensor) and result.is_floating_point()
        if is_float and str(func).startswith((*SUMS, *PRODUCTS)):
            frame = user_frame()
            place = location_of(frame) if frame is not None else None
            terms = _terms(str(func), args, result) if place is not None and str(place) == self._line else None
            if terms is not None:
                self.replaced += 1
                return result.div_(terms) if func._schema.is_mutable else result / terms
        return result


def _terms(name: str, args: Any, result: torch.Tensor) -> Any:
    """How many terms each value of a sum has, at least one; None where it is no sum after all."""
    if name.startswith("aten.sum.dim"):
        return math.prod(args[0].shape) / max(1, math.prod(result.shape))
    if name.startswith(("aten.scatter_add", "aten.scatter_reduce")):
        ones = torch.zeros_like(result).scatter_add_(args[1], args[2], torch.ones_like(args[3]))
        is_sum = not name.startswith("aten.scatter_reduce") or (args[4] if len(args) > 4 else "sum") == "sum"
        return ones.clamp_min_(1) if is_sum else None
    if name.startswith("aten.index_add"):
        return torch.zeros_like(result).index_add_(args[1], args[2], torch.ones_like(args[3])).clamp_min_(1)
    table = args[0]
    is_table = table.is_floating_point() and bool(((table == 0) | (table == 1)).all())
    return table.sum(-1, keepdim=True).clamp_min(1) if is_table else None
