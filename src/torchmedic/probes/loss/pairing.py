"""Whether a loss depends on which answer meets which target, and what the first layer of a model is shown."""

from __future__ import annotations

import ast
import math
import sys
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmedic.facts import InputSeen, Location, LossCall, LossPairing, TargetColumn, TinyBatchNorm
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss.class_weights import class_weights
from torchmedic.probes.loss.looks import MOST_ELEMENTS
from torchmedic.probes.loss.picks import Pick, pick_of, unrolled
from torchmedic.probes.loss.twice_scaled import scaled_twice
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, location, location_of, outward
from torchmedic.record import Recorder

_SEQUENCE_LAYERS = frozenset(("linear", "lstm", "gru", "rnn_tanh", "rnn_relu"))  # columns along the last axis
_FIRST_LAYERS = _SEQUENCE_LAYERS | {"conv1d", "conv2d", "conv3d"}
_ORDERS = frozenset(("randperm", "argsort", "randint", "multinomial"))
_PICKING = frozenset(("getitem", "index_select"))
_CUTTING = frozenset(("long", "int", "short", "to", "type", "trunc", "floor", "round"))
_LEAST_SAMPLES = 8
_MOST_NORM_VALUES = 4
_MOST_COLUMNS = 200
_FAR = 3.0
_ROUNDING = 1e-5
_ROUNDING_OF_COPY = 1e-9
_MOST_FED = 4


class Pairings:
    """Looks at the loss calls and the first layers of an examined step."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._cut: dict[int, float] = {}
        self._picks: dict[int, Pick] = {}
        self._fed: list[tuple[torch.Tensor, Location | None]] = []

    def close(self) -> None:
        self._fed.clear()
        self._cut.clear()
        self._picks.clear()

    # -- losses --------------------------------------------------------------------------------------------------

    def look_at_loss(
        self, trace: CallTrace, call: Call, seen: LossCall, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        given = args[0] if args else kwargs["input"]
        target = args[1] if len(args) > 1 else kwargs["target"]
        weights = class_weights(call, self._modules, self._recorder.step, args, kwargs)
        if weights is not None:
            self._recorder.observe(weights)
        function = getattr(nn.functional, call.name, None)
        if function is None or seen.loss is None or target.requires_grad or given.numel() > MOST_ELEMENTS:
            return
        if given.ndim == 0 or target.ndim == 0 or len(given) != len(target) or len(given) < _LEAST_SAMPLES:
            return
        self._look_for_copy(target, seen.where)
        permuted = _permuted(trace, self._picks, given, target)
        rounded = self._rounded(trace, target)
        flat = unrolled(trace, given, target)
        self._recorder.observe(
            LossPairing(
                step=self._recorder.step,
                function=call.name,
                where=seen.where,
                names=seen.names,
                samples=len(given),
                loss=seen.loss,
                others=_loss_of_others(function, given, args, kwargs),
                spread=float(given.float().std(0).mean()),
                varied=bool((target != target[:1]).any()),
                permuted=_place(permuted),
                permuted_text=_text(permuted),
                rounded=_place(rounded),
                rounded_text=_text(rounded),
                fractions=self._cut.get(rounded.index, 0.0) if rounded is not None else 0.0,
                loop=_loop_around(call),
                answers=_answers(call.name, given),
                whole=bool((target == target.round()).all()) if target.is_floating_point() else True,
                target_mean=float(target.double().mean()),
                target_spread=float(target.double().std(correction=0)),
                unrolled=(flat[0].reads[0].shape, flat[1].reads[0].shape) if flat is not None else None,
                unrolled_text=_text(flat[1]) if flat is not None else "",
                unrolled_at=_place(flat[1]) if flat is not None else None,
            )
        )

    def _look_for_copy(self, target: torch.Tensor, where: Location | None) -> None:
        """A column of the input that rises and falls with the target to the last digit."""
        wanted = target.detach().double().flatten()
        for values, called in self._fed:
            if len(values) != len(wanted) or values.shape[1] < 2:
                continue
            both = [one - one.mean(0) for one in (values.double(), wanted.unsqueeze(1))]
            alike = (both[0] * both[1]).sum(0).abs() / (both[0].norm(dim=0) * both[1].norm()).clamp_min(1e-300)
            for position in (alike > 1 - _ROUNDING_OF_COPY).nonzero().flatten().tolist()[:_MOST_FED]:
                self._recorder.observe(
                    TargetColumn(
                        step=self._recorder.step,
                        position=position,
                        columns=values.shape[1],
                        samples=len(wanted),
                        where=where,
                        fed=called,
                    )
                )

    def look_at_pick(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Remember which calls move whole rows: one index, over the first dimension."""
        pick = pick_of(args, kwargs) if call.name in _PICKING else None
        if pick is not None:
            self._picks[call.index] = pick

    def look_at_cast(self, call: Call, args: tuple[Any, ...], result: Any) -> None:
        """Remember casts that cut fractions off."""
        if call.name not in _CUTTING or not args or not isinstance(args[0], torch.Tensor):
            return
        before = args[0]
        if not isinstance(result, torch.Tensor) or not before.is_floating_point() or before.requires_grad:
            return
        whole = not result.is_floating_point() or call.name in ("trunc", "floor", "round")
        if whole and result.dtype != torch.bool and 0 < before.numel() <= MOST_ELEMENTS:
            self._cut[call.index] = float((before != before.round()).float().mean())

    def _rounded(self, trace: CallTrace, target: torch.Tensor) -> Call | None:
        """The cast that cut fractions off a target on its way to the loss."""
        index = trace.maker_of(target)
        while index is not None:
            if self._cut.get(index, 0.0) > 0:
                return trace.calls[index]
            reads = trace.calls[index].reads
            index = reads[0].maker if len(reads) == 1 else None
        return None

    def look_at_norm(self, call: Call, args: tuple[Any, ...]) -> None:
        """BatchNorm layers in training mode with a handful of values per channel."""
        layer = call.layer
        if call.name != "batch_norm" or not isinstance(layer, _BatchNorm) or not layer.training or not args:
            return
        given = args[0]
        values = given.numel() // max(1, layer.num_features)
        if values <= _MOST_NORM_VALUES:
            self._recorder.observe(
                TinyBatchNorm(
                    step=self._recorder.step,
                    layer=type(layer).__name__,
                    batch=len(given),
                    values=values,
                    called=call.place.location() if call.place else None,
                    layer_built=self._modules.born_at(layer),
                )
            )

    # -- inputs --------------------------------------------------------------------------------------------------

    def look_at_layer(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        """The first layers: those whose input no layer has made."""
        if call.name not in _FIRST_LAYERS or not call.inside_module or not args:
            return
        given = args[0]
        if not isinstance(given, torch.Tensor) or given.requires_grad or not given.is_floating_point():
            return
        if given.ndim < 2 or len(given) < _LEAST_SAMPLES or given.numel() > MOST_ELEMENTS:
            return
        values = given.detach().float()
        called = _model_call() or _place(call)
        at_layer = _place(call)
        narrow = values.ndim == 2 and values.shape[1] <= _MOST_COLUMNS
        in_columns = narrow or (call.name in _SEQUENCE_LAYERS and values.shape[-1] <= _MOST_COLUMNS)
        rows = values.flatten(0, -2)
        layer = type(call.layer).__name__ if call.layer is not None else call.name
        twice = scaled_twice(values, layer, self._recorder.step)
        if twice is not None:
            self._recorder.observe(twice)
        if narrow and len(self._fed) < _MOST_FED:
            self._fed.append((values, called))
        self._recorder.observe(
            InputSeen(
                step=self._recorder.step,
                op=call.name,
                layer=type(call.layer).__name__ if call.layer is not None else "",
                shape=tuple(given.shape),
                same=bool((values == values[:1]).all()),
                called=called,
                expression=_text(call) if called == at_layer or called is None else called.source.strip(),
                layer_built=self._modules.born_at(call.layer) if call.layer is not None else None,
                means=tuple(rows.mean(0).tolist()) if in_columns else (),
                spreads=tuple(rows.std(0).tolist()) if in_columns else (),
                far=far_ends(values, 1 if call.name.startswith("conv") else values.ndim - 1),
            )
        )


def far_ends(values: torch.Tensor, axis: int) -> tuple[tuple[int, float, int], ...]:
    """Columns with a number that lies further from all others than these are wide, and how often it is there."""
    if values.shape[axis] > _MOST_COLUMNS:
        return ()
    found = []
    for number, column in enumerate(values.movedim(axis, 0).flatten(1)):
        for end in {float(end) for end in torch.aminmax(column)}:
            is_end = (column - end).abs() <= _ROUNDING * abs(end)
            rest = column[~is_end]
            low, high = (float(v) for v in torch.aminmax(rest)) if rest.numel() >= _LEAST_SAMPLES else (0.0, math.inf)
            if max(low - end, end - high) > _FAR * (high - low) > 0:
                found.append((number, end, int(is_end.sum())))
    return tuple(found)


def _answers(function: str, given: torch.Tensor) -> int | None:
    """How many different classes a batch of scores names."""
    if function not in ("cross_entropy", "nll_loss") or given.ndim != 2:
        return None
    return len(set(given.argmax(1).tolist()))


def _loss_of_others(function: Any, given: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """The loss when every target meets the answers for another sample: a mean over two turns of the batch."""
    turns = (len(given) // 2, len(given) // 3)
    found = []
    for turn in turns:
        turned = torch.roll(given, turn, 0)
        rest = {key: value for key, value in kwargs.items() if key != "input"}
        found.append(float(function(turned, *args[1:], **rest)))
    return sum(found) / len(found)


def _permuted(trace: CallTrace, picks: dict[int, Pick], given: torch.Tensor, target: torch.Tensor) -> Call | None:
    """The call that puts the targets into an order which the answers have nothing to do with."""
    behind = trace.ancestors(trace.maker_of(given))
    beside = {picks[index].rows for index in behind & picks.keys() if _order(trace, trace.calls[index]) is not None}
    for index in trace.ancestors(trace.maker_of(target)) & picks.keys() - behind:
        call, pick = trace.calls[index], picks[index]
        order = _order(trace, call)
        if order is None or order.index in behind or not pick.moves or call.shape[:1] != target.shape[:1]:
            continue
        # Rows drawn at random are in another order only where the inputs were drawn as well, each on their own.
        if pick.is_permutation or pick.rows in beside:
            return call
    return None


def _order(trace: CallTrace, call: Call) -> Call | None:
    """The call that drew or sorted the index which another call picks rows with."""
    maker = call.reads[1].maker if len(call.reads) == 2 else None
    return trace.calls[maker] if maker is not None and trace.calls[maker].name in _ORDERS else None


def _loop_around(call: Call) -> Location | None:
    """The innermost loop of the same function around a call."""
    place = call.place
    tree = parsed(place.code.co_filename) if place is not None else None
    if place is None or tree is None:
        return None
    kinds = (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
    around = [n for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno <= place.line <= (n.end_lineno or 0)]
    inner = max(around, key=lambda n: n.lineno, default=None)
    if not isinstance(inner, ast.For | ast.While):
        return None
    return location(place.code.co_filename, inner.lineno, place.code.co_qualname)


def _model_call() -> Location | None:
    """The line that called the outermost model: the innermost one of the user outside any `forward`."""
    for frame in outward(sys._getframe(2)):
        if is_user_file(frame.f_code.co_filename) and frame.f_code.co_name != "forward":
            return location_of(frame)
    return None


def _place(call: Call | None) -> Location | None:
    return call.place.location() if call is not None and call.place is not None else None


def _text(call: Call | None) -> str:
    return call.place.expression() if call is not None and call.place is not None else ""
