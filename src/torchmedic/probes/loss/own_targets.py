"""Targets that come from the model itself: its answer, an estimate that carries a gradient, or what it was given."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import EstimateAsTarget, Location, LossCall, OneTargetForAll, OwnAnswerAsTarget
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.probes.loss.changed_targets import ChangedTargets
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_MOST_FACTS = 40
_DISTANCES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_ANSWERED = frozenset(("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"))
_SCORING = frozenset(("softmax", "log_softmax", "sigmoid", "detach"))
_CHOOSING = frozenset(("argmax", "max", "topk", "round", "gt", "ge", "long", "int", "one_hot"))
_PICKING = frozenset(("max", "amax", "min", "amin", "gather", "mul", "rmul", "sum", "neg"))
_SUMS = frozenset(("add", "radd"))
_SCALING = frozenset(("mul", "rmul", "div", "true_divide"))
_PAIRING = frozenset(("matmul", "rmatmul", "mm", "einsum", "linear", "cosine_similarity"))


class OwnTargets:
    """Looks at what the target of a loss was made of, in an examined step."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.changed = ChangedTargets(recorder)
        self._facts = 0
        self._differences: list[tuple[Call, Call, str]] = []

    def look_at_loss(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        self.changed.look_at_loss(trace, seen, target)
        if self._facts >= _MOST_FACTS:
            return
        if seen.function == "cross_entropy" and given.ndim == 2 and given.shape[0] == given.shape[1] > 3:
            self._look_at_pairs(trace, seen, given, target)
        if seen.function in _ANSWERED and not target.requires_grad:
            self._look_at_answer(trace, seen, given, target)
        elif seen.function in _DISTANCES and given.requires_grad and target.requires_grad:
            for one, other, name in ((given, target, seen.names[1]), (target, given, seen.names[0])):
                estimate = _estimate_behind(trace, one, other)
                if estimate is not None:
                    self._tell(seen.where, estimate, name, seen.function)

    def look_at_difference(self, trace: CallTrace, call: Call, pair: tuple[Any, ...]) -> None:
        """A hand-written distance: whether it becomes a loss is known at the end of the step."""
        names = operand_names(call.place.expression()) if call.place else []
        both = (names[0], names[1]) if len(names) == 2 else ("first", "second")
        for one, other, name in ((pair[0], pair[1], both[1]), (pair[1], pair[0], both[0])):
            estimate = _estimate_behind(trace, one, other)
            if estimate is not None and len(self._differences) < _MOST_FACTS:
                self._differences.append((call, estimate, name))

    def close(self, trace: CallTrace) -> None:
        self.changed.close()
        for call, estimate, name in self._differences:
            if trace.is_reduced(call.index):
                self._tell(call.place.location() if call.place else None, estimate, name, "-")
        self._differences.clear()

    def _look_at_answer(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        chosen = trace.way_back(trace.maker_of(target), TRANSPARENT | _SCORING | _CHOOSING)
        own = trace.way_back(trace.maker_of(given), TRANSPARENT | _SCORING)
        choice = next((call for call in chosen if call.name in _CHOOSING), None)
        if choice is None or not own or not any(call is own[-1] for call in chosen):
            return
        self._facts += 1
        self._recorder.observe(
            OwnAnswerAsTarget(
                step=self._recorder.step,
                where=seen.where,
                function=seen.function,
                names=seen.names,
                chosen=choice.place.location() if choice.place else None,
                chosen_text=choice.place.expression() if choice.place else choice.name,
            )
        )

    def _look_at_pairs(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        """A product of two lists of the batch: every row has a partner of its own, so that targets must differ."""
        product = next(
            (c for c in trace.way_back(trace.maker_of(given), TRANSPARENT | _SCALING) if c.name in _PAIRING), None
        )
        if product is None or target.is_floating_point() or target.ndim != 1 or bool((target != target[0]).any()):
            return
        maker = trace.real_maker(target)[0]
        self._facts += 1
        self._recorder.observe(
            OneTargetForAll(
                step=self._recorder.step,
                where=seen.where,
                names=seen.names,
                size=len(given),
                column=int(target[0]),
                table_made=product.place.location() if product.place else None,
                table_text=product.place.expression() if product.place else "",
                target_made=maker.place.location() if maker is not None and maker.place else None,
                target_text=maker.place.expression() if maker is not None and maker.place else "",
            )
        )

    def _tell(self, where: Location | None, estimate: Call, name: str, function: str) -> None:
        self._facts += 1
        self._recorder.observe(
            EstimateAsTarget(
                step=self._recorder.step,
                where=where,
                function=function,
                target=name,
                made=estimate.place.location() if estimate.place else None,
                made_text=estimate.place.expression() if estimate.place else "",
            )
        )


def _estimate_behind(trace: CallTrace, given: torch.Tensor, target: torch.Tensor) -> Call | None:
    """The sum `data + factor * estimate` that a target is, where the layer that gave the answer estimated it too."""
    sums = trace.way_back(trace.maker_of(target), TRANSPARENT)[-1:]
    if not sums or sums[0].name not in _SUMS or not sums[0].is_users:
        return None
    data = [read for read in sums[0].reads if not read.requires_grad and read.shape]
    learned = [read for read in sums[0].reads if read.requires_grad]
    if len(data) != 1 or len(learned) != 1:
        return None
    way = trace.way_back(learned[0].maker, TRANSPARENT | _PICKING)
    own = trace.way_back(trace.maker_of(given), TRANSPARENT | _PICKING)
    is_scaled = any(call.name in ("mul", "rmul") for call in way)
    if not is_scaled or not own or way[-1].layer is None or way[-1].layer is not own[-1].layer:
        return None
    return sums[0] if way[-1] is not own[-1] else None
