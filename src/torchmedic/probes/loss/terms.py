"""The parts of a loss in an examined step: differences with oneself, pairs with oneself, terms, drawn targets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import (
    EqualOperands,
    FreshTarget,
    Location,
    LossCall,
    LossTerm,
    NodesTrainedOn,
    WeightWithGradient,
)
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss.self_pairs import SelfPairs
from torchmedic.probes.loss.uniform_noise import UniformNoises
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_MOST_PLACES = 40
_MOST_ELEMENTS = 4_000_000
_LEAST_NODES = 20
_SUMS = frozenset(("add", "radd", "iadd", "sub", "rsub"))
_PRODUCTS = frozenset(("mul", "rmul", "imul"))
_GATHERING = frozenset(("stack", "cat", "sum", "neg", "squeeze", "unsqueeze", "view", "reshape", "flatten", "getitem"))
_WEIGHING = frozenset(("sub", "add", "div", "mul", "true_divide", "squeeze", "unsqueeze", "view", "reshape", "getitem"))
_DRAWING = frozenset(("randn", "randn_like", "rand", "rand_like", "normal"))
_DISTANCES = frozenset(("sub", "rsub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_MIXING = frozenset(("mul", "rmul", "add", "radd", "lerp", "addcmul"))
_NEUTRAL = frozenset(("data_ptr", "size", "dim", "numel", "detach", "requires_grad_"))


@late_dataclass()
class _Difference:
    """A line that takes one tensor with gradient from another."""

    where: Location
    expression: str
    names: tuple[str, str]
    second_made: Location | None
    shape: tuple[int, ...]
    looks: int = 0
    equal: int = 0


@late_dataclass()
class _Term:
    """A summand of the loss over the looks."""

    where: Location
    expression: str
    name: str
    made: Location | None
    made_text: str
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)


class Terms:
    """Looks at single calls of an examined step; what is told of a line over the whole run is written at the end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._differences: dict[tuple[str, int, str], _Difference] = {}
        self._terms: dict[tuple[str, int, str, int], _Term] = {}
        self._fresh = 0
        self._selves = SelfPairs(recorder)
        self._noises = UniformNoises(recorder)
        self._weights: list[WeightWithGradient] = []

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        self._selves.look(trace, call, args)
        self._noises.look(trace, call, args)
        pair = args[:2] if len(args) > 1 and all(isinstance(a, torch.Tensor) for a in args[:2]) else None
        if call.name in _PRODUCTS and pair is not None and call.is_users and len(self._weights) < _MOST_PLACES:
            self._look_at_weight(trace, call, pair)
        if call.name not in _SUMS or pair is None or call.place is None or not call.is_users:
            return
        if isinstance(result, torch.Tensor) and result.ndim == 0 and result.requires_grad:
            self._look_at_sum(trace, call, pair, result)
        elif call.name == "sub" and pair[0].requires_grad and pair[1].requires_grad and pair[0] is not pair[1]:
            self._look_at_difference(trace, call, pair)

    # -- differences -----------------------------------------------------------------------------------------------

    def _look_at_difference(self, trace: CallTrace, call: Call, pair: tuple[Any, ...]) -> None:
        first, second = pair
        maker = trace.real_maker(second)[0]
        if first.shape != second.shape or not 1 < first.numel() <= _MOST_ELEMENTS or maker is None:
            return
        assert call.place is not None
        where, text = call.place.location(), call.place.expression()
        known = self._differences.get((where.file, where.line, text))
        if known is None:
            if len(self._differences) >= _MOST_PLACES:
                return
            names = operand_names(text)
            made = maker.place.location() if maker.place else None
            both = (names[0], names[1]) if len(names) == 2 else ("first", "second")
            known = _Difference(where, text, both, made, tuple(first.shape))
            self._differences[where.file, where.line, text] = known
        known.looks += 1
        known.equal += bool(torch.equal(first, second)) and bool((first != 0).any())

    # -- weights of log-probabilities ------------------------------------------------------------------------------

    def _look_at_weight(self, trace: CallTrace, call: Call, pair: tuple[Any, ...]) -> None:
        """A log-probability times a difference from a learned value: the policy gradient with a baseline."""
        for score, weight in (pair, pair[::-1]):
            is_both = score.requires_grad and weight.requires_grad and weight.ndim > 0
            found = _difference_behind(trace, weight) if is_both and _is_score(trace, score) else None
            if found is None or call.place is None or found.place is None:
                continue
            names = operand_names(call.place.expression())
            at = 0 if score is pair[0] else 1
            self._weights.append(
                WeightWithGradient(
                    step=self._recorder.step,
                    where=call.place.location(),
                    expression=call.place.expression(),
                    score=names[at] if len(names) == 2 else "log_prob",
                    weight=names[1 - at] if len(names) == 2 else found.place.expression(),
                    made=found.place.location(),
                    made_text=found.place.expression(),
                    shape=tuple(weight.shape),
                )
            )
            self._recorder.observe(self._weights[-1])
            return

    # -- summands --------------------------------------------------------------------------------------------------

    def _look_at_sum(self, trace: CallTrace, call: Call, pair: tuple[Any, ...], result: torch.Tensor) -> None:
        assert call.place is not None
        where, text = call.place.location(), call.place.expression()
        names = operand_names(text)
        values = [float(part) for part in pair]
        signs = (1.0, -1.0) if call.name == "sub" else (1.0, 1.0)
        for at, part in enumerate(pair):
            if not part.requires_grad or part.ndim or len(self._terms) >= _MOST_PLACES:
                continue
            maker = trace.real_maker(part)[0]
            key = (where.file, where.line, text, at)
            term = self._terms.get(key)
            if term is None:
                sign = "-" if signs[at] < 0 else ""
                name = sign + names[at] if len(names) == 2 else text
                # What is taken off is edited where it is taken off.
                place = maker.place if maker is not None and not sign else None
                made = place.location() if place else None
                term = self._terms[key] = _Term(where, text, name, made, place.expression() if place else "")
            term.steps.append(self._recorder.step)
            term.values.append(signs[at] * values[at])
            term.others.append(signs[1 - at] * values[1 - at])

    # -- loss functions --------------------------------------------------------------------------------------------

    def look_at_loss(self, trace: CallTrace, seen: LossCall, given: torch.Tensor, target: torch.Tensor) -> None:
        self._selves.look_at_loss(trace, seen, given, target)
        if seen.loss is not None and len(target) >= _LEAST_NODES if target.ndim else False:
            self._look_at_nodes(seen, target)

    def _look_at_nodes(self, seen: LossCall, target: torch.Tensor) -> None:
        for name, graph in _graphs(sys._getframe(1)):
            labels, masks = graph.get("y"), [graph.get(f"{part}_mask") for part in ("train", "test")]
            if not isinstance(labels, torch.Tensor) or not all(_is_mask(mask, len(target)) for mask in masks):
                continue
            train, test = (int(mask.sum()) for mask in masks if mask is not None)
            whole = labels.numel() == target.numel() and labels.data_ptr() == target.data_ptr()
            if whole and test and train < len(target):
                self._recorder.observe(
                    NodesTrainedOn(
                        step=self._recorder.step,
                        where=seen.where,
                        function=seen.function,
                        names=seen.names,
                        owner=name,
                        nodes=len(target),
                        train=train,
                        test=test,
                    )
                )
                return

    # -- the end of a step and of the run --------------------------------------------------------------------------

    def close(self, trace: CallTrace) -> None:
        self._selves.close(trace)
        self._noises.close(trace)
        drawn = [call for call in trace.calls if call.name in _DRAWING and call.shape and not call.layer]
        for call in drawn if self._fresh < 8 else ():
            readers = [reader for reader in trace.readers(call.index) if reader.name not in _NEUTRAL]
            if len(readers) == 1 and readers[0].name in _DISTANCES:
                self._look_at_fresh(trace, call, readers[0], drawn)

    def _look_at_fresh(self, trace: CallTrace, call: Call, reader: Call, drawn: list[Call]) -> None:
        """A target that was drawn for the loss, beside a model that was shown real data or other random numbers."""
        met = [read for read in reader.reads if read.maker != call.index]
        used = [one for one in drawn if one is not call and one.shape == call.shape and _is_mixed(trace, one)]
        is_compared = reader.name not in ("sub", "rsub") or trace.is_reduced(reader.index)
        if not met or not met[0].requires_grad or met[0].shape != call.shape or not used or not is_compared:
            return
        self._fresh += 1
        self._recorder.observe(
            FreshTarget(
                step=self._recorder.step,
                where=reader.place.location() if reader.place else None,
                expression=reader.place.expression() if reader.place else "",
                op=reader.name,
                drawn=call.place.location() if call.place else None,
                drawn_text=call.place.expression() if call.place else call.name,
                shape=call.shape,
            )
        )

    def write(self) -> None:
        for seen in self._differences.values():
            if seen.equal:
                self._recorder.observe(
                    EqualOperands(
                        step=self._recorder.step,
                        where=seen.where,
                        expression=seen.expression,
                        names=seen.names,
                        second_made=seen.second_made,
                        looks=seen.looks,
                        equal=seen.equal,
                        shape=seen.shape,
                    )
                )
        for term in self._terms.values():
            if min(term.values) < 0:
                self._recorder.observe(
                    LossTerm(
                        step=self._recorder.step,
                        where=term.where,
                        expression=term.expression,
                        name=term.name,
                        made=term.made,
                        made_text=term.made_text,
                        steps=tuple(term.steps),
                        values=tuple(term.values),
                        others=tuple(term.others),
                    )
                )


def _is_score(trace: CallTrace, tensor: torch.Tensor) -> bool:
    """Whether a tensor is made of what the `log_prob` of a distribution gave, or was picked out of a `log_softmax`."""
    waiting, seen = [trace.maker_of(tensor)], 0
    while waiting and seen < 40:
        index = waiting.pop()
        call = trace.calls[index] if index is not None else None
        if call is None:
            continue
        seen += 1
        source = trace.maker_of_read(call.reads[0]) if call.name == "gather" and call.reads else None
        if call.scored or (source is not None and source.name == "log_softmax"):
            return True
        if call.name in _GATHERING:
            waiting += [read.maker for read in call.reads if read.requires_grad]
    return False


def _difference_behind(trace: CallTrace, weight: torch.Tensor) -> Call | None:
    """The line that takes a learned value from one that is not learned, on the way to a weight."""
    index, steps = trace.maker_of(weight), 0
    while index is not None and steps < 12:
        call, steps = trace.calls[index], steps + 1
        sides = [read for read in call.reads if read.shape]
        if call.name == "sub" and len(sides) == 2 and sides[0].requires_grad != sides[1].requires_grad:
            # The mean of all, taken off for scaling, is no baseline.
            return call if call.is_users and sides[0].shape == sides[1].shape else None
        learned = [read.maker for read in call.reads if read.requires_grad]
        index = learned[0] if call.name in _WEIGHING and learned else None
    return None


def _is_mixed(trace: CallTrace, drawn: Call) -> bool:
    """Whether random numbers were added to something."""
    return any(reader.name in _MIXING for reader in trace.readers(drawn.index))


def _is_mask(mask: Any, nodes: int) -> bool:
    return isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape == (nodes,)


def _graphs(frame: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Graphs of PyG that the user's frames can name, as the fields they hold."""
    seen: set[int] = set()
    for above in outward(frame):
        if not is_user_file(above.f_code.co_filename):
            continue
        for name, thing in (*above.f_locals.items(), *above.f_globals.items()):
            is_graph = type(thing).__module__.startswith("torch_geometric.data") and hasattr(thing, "_store")
            if is_graph and id(thing) not in seen:
                seen.add(id(thing))
                yield name, dict(thing._store.items())
