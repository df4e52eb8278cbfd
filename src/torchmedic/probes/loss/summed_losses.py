"""A loss that is a sum over the rows of a batch: which call sums, over how many terms, times which number."""

from __future__ import annotations

import math
from typing import Any

import torch

from torchmedic.facts import LossSummed
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.record import Recorder

_ADDING = frozenset(("add", "radd", "iadd", "sub", "rsub", "neg"))
_TIMES = frozenset(("mul", "rmul", "imul"))
_BY = frozenset(("div", "truediv", "idiv", "itruediv", "true_divide"))
_MOST_CALLS = 40
_LEAST_ROWS = 2


class SummedLosses:
    """Notes by which numbers single values are multiplied; from the loss of a backward it walks back to its sums."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._factors: dict[int, float] = {}
        self._is_told = False

    def look(self, call: Call, args: tuple[Any, ...]) -> None:
        if call.shape != () or call.name not in _TIMES | _BY or self._is_told:
            return
        number = next((abs(float(a)) for a in args if isinstance(a, (int, float))), None)
        if number:
            self._factors[call.index] = number if call.name in _TIMES else 1 / number

    def close(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        """The sum of most terms behind the loss of the step's first backward; None where all are means."""
        start = trace.maker_of(roots[0]) if len(roots) == 1 and isinstance(roots[0], torch.Tensor) else None
        factors, self._factors = self._factors, {}
        if self._is_told or start is None:
            return
        sums = _sums_behind(trace, start, factors)
        heaviest = max(sums, key=lambda found: found[1] * _terms(found[0]), default=None)
        if heaviest is None or heaviest[0].place is None or not _is_over_rows(trace, heaviest[0]):
            return
        self._is_told = True
        call, factor = heaviest
        layer = call.layer
        self._recorder.observe(
            LossSummed(
                step=self._recorder.step,
                where=heaviest[0].place.location(),
                expression=heaviest[0].place.expression(),
                rows=call.reads[0].shape[0],
                terms=_terms(call),
                factor=factor,
                built=self._modules.born_at(layer) if layer is not None else None,
                layer=type(layer).__name__ if layer is not None else "",
            )
        )


def _sums_behind(trace: CallTrace, start: int, factors: dict[int, float]) -> list[tuple[Call, float]]:
    """The sums to one value that a loss is added up from, each with the number that it is multiplied by on the way."""
    waiting, found = [(start, 1.0)], []
    for index, factor in waiting:
        call = trace.calls[index]
        if call.shape != () or len(waiting) > _MOST_CALLS:
            continue
        if _sums(call):
            found.append((call, factor))
        elif call.name in _ADDING | TRANSPARENT or index in factors:
            within = factor * factors.get(index, 1.0)
            waiting += [(read.maker, within) for read in call.reads if read.maker is not None and read.requires_grad]
    return found


def _sums(call: Call) -> bool:
    rows = call.reads[0].shape if call.reads else ()
    return bool(rows) and rows[0] >= _LEAST_ROWS and (call.name == "sum" or call.options.get("reduction") == "sum")


def _terms(call: Call) -> int:
    return math.prod(call.reads[0].shape)


def _is_over_rows(trace: CallTrace, call: Call) -> bool:
    """Whether what is summed has a row for each of the network's last answer; not the mean of them, by feature."""
    behind = sorted(trace.ancestors(call.index) - {call.index}, reverse=True)
    answer = next((trace.calls[i].shape for i in behind if trace.calls[i].layer is not None), ())
    return bool(answer) and call.reads[0].shape[0] % max(answer[0], 1) == 0
