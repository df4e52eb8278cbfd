"""Terms of one loss that count on different scales: a mean over the batch beside a sum over it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import Location, SumBesideMean
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss import looks
from torchmedic.record import Recorder

_SUMS = frozenset(("add", "radd", "iadd", "sub", "rsub"))
_FACTORS = frozenset(("mul", "rmul", "imul", "div", "true_divide", "itruediv", "truediv", "neg", "clone"))
_SQUARES = frozenset(("pow", "square", "mul"))
_LEAST_BATCH = 4
_MOST_TERMS = 40
_MOST_PAIRS = 6


@late_dataclass()
class _Reduction:
    """A call that made one number of many: `baseline` is what the best answer that never changes would cost."""

    call: Call
    is_mean: bool
    shape: tuple[int, ...]
    elements: int
    baseline: float | None = None


@late_dataclass()
class _Pair:
    """A sum and a mean of one loss, over the looks; `ratio` is how much more one element of the sum weighs."""

    summed: _Reduction
    mean: _Reduction
    ratio: float
    steps: list[int] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    baselines: list[float] = field(default_factory=list)


class TermScales:
    """Remembers the reductions of an examined step, and follows the loss of a backward pass back to them."""

    def __init__(self, recorder: Recorder, losses: frozenset[str]) -> None:
        self._recorder = recorder
        self._losses = losses
        self._values: dict[int, float] = {}
        self._reductions: dict[int, _Reduction] = {}
        self._baselines: dict[int, float] = {}
        self._pairs: dict[tuple[Location, Location], _Pair] = {}

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if not isinstance(result, torch.Tensor) or not result.requires_grad:
            return
        if call.name in self._losses or call.name == "sub":
            self._note_baseline(call, args, kwargs)
        if result.numel() == 1 and call.name in (*_SUMS, *_FACTORS, "sum", "mean", *self._losses):
            self._values[call.index] = float(result.detach())
            reduction = self._reduction(trace, call)
            if reduction is not None:
                self._reductions[call.index] = reduction

    def _note_baseline(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        pair = [args[0] if args else kwargs.get("input"), args[1] if len(args) > 1 else kwargs.get("target")]
        sides = [side for side in pair if isinstance(side, torch.Tensor) and side.ndim > 0]
        target = next((side for side in sides if not side.requires_grad and side.is_floating_point()), None)
        values = looks.plain(target) if len(sides) == 2 and target is not None else None
        if values is not None and sides[0].shape == sides[1].shape:
            found = looks.baseline("mse_loss" if call.name == "sub" else call.name, values, {})
            if found is not None:
                self._baselines[call.index] = found

    def _reduction(self, trace: CallTrace, call: Call) -> _Reduction | None:
        given = next((read for read in call.reads if read.requires_grad), None)
        if given is None or not given.shape or given.shape[0] < _LEAST_BATCH or call.place is None:
            return None
        kind = call.name if call.name in ("sum", "mean") else str(call.options.get("reduction", "mean"))
        way = trace.way_back(given.maker, _SQUARES)
        behind = (call.index, *(one.index for one in way if call.name == "mean"))
        baseline = next((self._baselines[index] for index in behind if index in self._baselines), None)
        return _Reduction(call, kind == "mean", given.shape, math.prod(given.shape), baseline)

    def close(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        root = roots[0] if len(roots) == 1 else None
        if isinstance(root, torch.Tensor) and root.numel() == 1 and len(self._reductions) > 1:
            terms = list(self._terms(trace, trace.maker_of(root)))
            means = [term for term in terms if term[0].is_mean and term[0].baseline]
            for summed, factor in (term for term in terms if not term[0].is_mean):
                for mean, share in means:
                    if mean.shape[0] == summed.shape[0] and share:
                        self._note(_Pair(summed, mean, abs(factor / share) * mean.elements))
        self._values.clear()
        self._reductions.clear()
        self._baselines.clear()

    def _terms(self, trace: CallTrace, index: int | None) -> Iterator[tuple[_Reduction, float]]:
        """The reductions that the loss is a weighted sum of, with their weights."""
        waiting, seen = [(index, 1.0)], 0
        while waiting and seen < _MOST_TERMS:
            (at, factor), seen = waiting.pop(), seen + 1
            if at is None:
                continue
            if at in self._reductions:
                yield self._reductions[at], factor
                continue
            call = trace.calls[at]
            makers = [read.maker for read in call.reads if read.requires_grad]
            if call.name in _SUMS:
                waiting += [(maker, factor) for maker in makers]
            elif call.name in _FACTORS and len(makers) == 1 and makers[0] is not None and self._values.get(makers[0]):
                waiting.append((makers[0], factor * self._values.get(at, 0.0) / self._values[makers[0]]))

    def _note(self, found: _Pair) -> None:
        summed, mean = found.summed.call.place, found.mean.call.place
        if summed is None or mean is None:
            return
        key = (summed.location(), mean.location())
        if key not in self._pairs and len(self._pairs) >= _MOST_PAIRS:
            return
        pair = self._pairs.setdefault(key, found)
        pair.steps.append(self._recorder.step)
        pair.sums.append(self._values[found.summed.call.index])
        pair.means.append(self._values[found.mean.call.index])
        pair.baselines.append(found.mean.baseline or 0.0)

    def write(self) -> None:
        for (summed_at, mean_at), pair in self._pairs.items():
            summed, mean = pair.summed.call.place, pair.mean.call.place
            self._recorder.observe(
                SumBesideMean(
                    step=pair.steps[-1],
                    where=summed_at,
                    expression=summed.expression() if summed else "",
                    shape=pair.summed.shape,
                    mean_at=mean_at,
                    mean_expression=mean.expression() if mean else "",
                    mean_shape=pair.mean.shape,
                    ratio=pair.ratio,
                    sums=tuple(pair.sums),
                    means=tuple(pair.means),
                    baselines=tuple(pair.baselines),
                )
            )
