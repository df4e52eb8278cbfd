"""Parts of an examined step that do nothing: a softmax of one score, one position for all places, idle terms."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import IdleTerm, Location, OnePositionForAll, SoftmaxOfOne, WeightAfterReduction
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.probes.loss.lone_shares import DIVISIONS, LoneShares, picked
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_MOST_LINES = 40
_LONGEST_PAST = 200
_MOST_PASSED = 16
_SUMS = frozenset(("add", "radd", "iadd", "sub", "rsub"))
_PRODUCTS = frozenset(("mul", "rmul", "imul"))
_WEIGHING = TRANSPARENT | {"mul", "rmul", "div", "true_divide", "neg"}
_DISTANCES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cosine_embedding_loss"))
_LIKELIHOODS = frozenset(("kl_div", "cross_entropy", "nll_loss", "binary_cross_entropy"))
_JUDGING = _DISTANCES | _LIKELIHOODS | {"binary_cross_entropy_with_logits", "triplet_margin_loss"}


@late_dataclass()
class _Softmax:
    """A line that takes a softmax: how often it was seen, and how often over a single score."""

    where: Location
    expression: str
    shape: tuple[int, ...]
    dim: int
    picked_from: int = 0
    looks: int = 0
    single: int = 0


class IdleParts:
    """Looks at single calls; what must hold over the whole run is told at its end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._softmaxes: dict[Location, _Softmax] = {}
        self._shares = LoneShares()
        self._samples = 0
        self._facts = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        if call.place is None:
            return
        if call.name == "softmax" and args and isinstance(args[0], torch.Tensor):
            self._look_at_softmax(trace, call, args[0])
        elif call.name in DIVISIONS:
            self._shares.look(trace, call)
        elif call.name in _JUDGING and args and isinstance(args[0], torch.Tensor) and args[0].ndim:
            self._samples = len(args[0])
        elif call.name in _PRODUCTS and self._facts < _MOST_LINES and _are_tensors(args):
            self._look_at_mask(trace, call, args)
        elif call.name in _SUMS and self._facts < _MOST_LINES and _are_tensors(args) and result.requires_grad:
            self._look_at_term(trace, call, args)
            self._look_at_position(trace, call, args)

    def _look_at_softmax(self, trace: CallTrace, call: Call, scores: torch.Tensor) -> None:
        dim = call.options.get("dim")
        if not isinstance(dim, int) or scores.ndim < 2 or not scores.requires_grad or call.place is None:
            return
        where, text = call.place.location(), call.place.expression()
        is_users = "softmax" in text.lower() or (isinstance(call.layer, torch.nn.Softmax) and call.direct)
        if is_users and where not in self._softmaxes and len(self._softmaxes) < _MOST_LINES:
            seen = self._softmaxes[where] = _Softmax(where, text, tuple(scores.shape), dim % scores.ndim)
            at, several = picked(trace, call.reads[0])
            seen.picked_from = several if at == seen.dim else 0
        if where in self._softmaxes:
            self._softmaxes[where].looks += 1
            self._softmaxes[where].single += scores.shape[dim] == 1 and scores.numel() > 1

    def _look_at_term(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        """A scalar without gradient that a loss function made, added to one with."""
        idle = [at for at, part in enumerate(args[:2]) if part.ndim == 0 and not part.requires_grad]
        if len(idle) != 1 or call.place is None:
            return
        judged = _judge_behind(trace, trace.maker_of(args[idle[0]]))
        if judged is None or judged.place is None:
            return
        names = operand_names(call.place.expression())
        self._facts += 1
        self._recorder.observe(
            IdleTerm(
                step=self._recorder.step,
                where=judged.place.location(),
                expression=judged.place.expression(),
                function=judged.name,
                term=names[idle[0]] if len(names) == 2 else judged.place.expression(),
                added=call.place.location(),
                value=float(args[idle[0]]),
                passed=_passed(trace, judged),
            )
        )

    def _look_at_mask(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        """A loss that is one number already, times a weight for each sample: the weights weigh nothing any more."""
        for total, weights in (args[:2], args[1::-1]):
            if total.ndim or not total.requires_grad or weights.ndim == 0 or weights.requires_grad:
                continue
            maker = _reduction_behind(trace, trace.maker_of(total))
            shapes = [read.shape for read in maker.reads if read.shape] if maker is not None else []
            per_sample = len(weights) > 1 and any(shape[: weights.ndim] == tuple(weights.shape) for shape in shapes)
            if maker is None or maker.place is None or call.place is None or not per_sample:
                continue
            if bool((weights == weights.flatten()[0]).all()):
                continue
            names = operand_names(call.place.expression())
            self._facts += 1
            self._recorder.observe(
                WeightAfterReduction(
                    step=self._recorder.step,
                    where=call.place.location(),
                    expression=call.place.expression(),
                    weights=names[0 if weights is args[0] else 1] if len(names) == 2 else "weights",
                    shape=tuple(weights.shape),
                    is_mask=bool(((weights == 0) | (weights == 1)).all()),
                    function=maker.name,
                    reduced=maker.place.location(),
                    reduced_text=maker.place.expression(),
                    reduced_shape=shapes[0],
                )
            )

    def _look_at_position(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        """`x + table[:, x.size(1)]`: the one row behind the end of the sequence, for every place of it."""
        for to, added in (args[:2], args[1::-1]):
            index = trace.maker_of(added)
            maker = trace.calls[index] if index is not None else None
            if maker is None or maker.name != "getitem" or len(maker.reads) != 1 or maker.reads[0].maker is not None:
                continue
            table, width = maker.reads[0].shape, to.shape[-1] if to.ndim == 3 else 0
            picked = maker.options.get("index", ())
            is_one = (
                added.numel() == width == (table[-1] if table else 0) and len(picked) == 1 and not added.shape[1:-1]
            )
            if is_one and picked[0] in to.shape[:2] and picked[0] > 1 and max(table[:-1], default=0) > picked[0]:
                self._tell_position(call, maker, to, picked[0], table)

    def _tell_position(self, call: Call, maker: Call, to: torch.Tensor, row: int, table: tuple[int, ...]) -> None:
        self._facts += 1
        place = maker.place or call.place
        self._recorder.observe(
            OnePositionForAll(
                step=self._recorder.step,
                where=place.location() if place else None,
                expression=place.expression() if place else "",
                row=row,
                table=table,
                to=tuple(to.shape),
            )
        )

    def write(self) -> None:
        for share in self._shares.facts(self._recorder.step):
            self._recorder.observe(share)
        for seen in self._softmaxes.values():
            if seen.single == seen.looks:
                self._recorder.observe(
                    SoftmaxOfOne(
                        step=self._recorder.step,
                        where=seen.where,
                        expression=seen.expression,
                        shape=seen.shape,
                        dim=seen.dim,
                        looks=seen.looks,
                        samples=self._samples,
                        picked_from=seen.picked_from,
                    )
                )


def _reduction_behind(trace: CallTrace, index: int | None) -> Call | None:
    """The call that made one number out of many, seen through its factor."""
    way = trace.way_back(index, _WEIGHING)
    last = way[-1] if way else None
    makes_one = last is not None and last.shape == () and any(read.shape for read in last.reads)
    return last if last is not None and makes_one and last.name in _JUDGING | {"sum", "mean"} else None


def _passed(trace: CallTrace, judged: Call) -> tuple[Location, ...]:
    """The lines that what a loss function without a gradient compares came through, back to tensors that have one."""
    waiting, behind = [judged], {judged.index}
    while waiting and len(behind) < _LONGEST_PAST:
        call = waiting.pop()
        makers = {read.maker for read in call.reads if read.maker is not None and not read.requires_grad}
        waiting += [trace.calls[maker] for maker in makers - behind]
        behind |= makers
    places = (trace.calls[index].place for index in sorted(behind, reverse=True))
    lines = {(where.file, where.line): where for where in (place.location() for place in places if place is not None)}
    return tuple(lines.values())[:_MOST_PASSED]


def _are_tensors(args: tuple[Any, ...]) -> bool:
    return len(args) > 1 and all(isinstance(part, torch.Tensor) for part in args[:2])


def _judge_behind(trace: CallTrace, index: int | None) -> Call | None:
    """The loss function that made a number, seen through its weight."""
    way = trace.way_back(index, _WEIGHING)
    return way[-1] if way and way[-1].name in _JUDGING else None
