"""The exam of the loss: a few steps are watched call by call, and what the loss is given is looked at."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from typing import Any

import torch

from torchmedic.facts import AccidentalBroadcast, LossCall, Producer
from torchmedic.probes.events.modes import is_compiled
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss import looks
from torchmedic.probes.loss.activations import Activations
from torchmedic.probes.loss.dependence import Dependences
from torchmedic.probes.loss.directions import Directions
from torchmedic.probes.loss.hand_distances import HandDistances
from torchmedic.probes.loss.idle_parts import IdleParts
from torchmedic.probes.loss.lone_answers import LoneAnswers
from torchmedic.probes.loss.masks import Masks
from torchmedic.probes.loss.own_targets import OwnTargets
from torchmedic.probes.loss.pairing import Pairings
from torchmedic.probes.loss.picked import PickedScores
from torchmedic.probes.loss.repeated_draws import RepeatedDraws
from torchmedic.probes.loss.shortcuts import Shortcuts
from torchmedic.probes.loss.summed_losses import SummedLosses
from torchmedic.probes.loss.swallowed_overflows import SwallowedOverflows
from torchmedic.probes.loss.term_scales import TermScales
from torchmedic.probes.loss.terms import Terms
from torchmedic.probes.loss.thrown_terms import ThrownTermsExam
from torchmedic.probes.loss.tokens import Tokens
from torchmedic.probes.loss.zero_losses import ZeroLosses
from torchmedic.probes.objects.values import torch_summary
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Probe, Recorder, next_of, shielded

EXAMINED_AFTER = frozenset({1, 2, 9, 39, 119, 359, 1079, 3239})
_MOST_PER_STEP = 12
_MOST_EXAMS = 30
_CLASS_LOSSES = ("cross_entropy", "nll_loss")
_PROBABILITY_LOSSES = ("binary_cross_entropy_with_logits", "binary_cross_entropy", "kl_div")
# Their targets say "alike" or "unlike" by the signs 1 and -1; the number is the position of the target.
_SIGN_LOSSES = {"cosine_embedding_loss": 2, "margin_ranking_loss": 2, "soft_margin_loss": 1, "hinge_embedding_loss": 1}
_DISTANCE_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_PATH_LOSSES = ("ctc_loss",)
LOSSES = frozenset((*_CLASS_LOSSES, *_PROBABILITY_LOSSES, *_DISTANCE_LOSSES, *_SIGN_LOSSES, *_PATH_LOSSES))
_PAIRING = frozenset(("sub", "rsub", "add", "mul", "div", "true_divide"))
_ON_PURPOSE = ("None", "newaxis", "unsqueeze", "view(", "reshape(", ".T", ".t()", "transpose", "keepdim")
# Columns that are cut out keep the dimension or lose it, as the brackets say: often not the one that was thought of.
_CUT_OUT = ("[:,", "[...,")


class LossExam(Probe):
    """Switches the call trace on for single steps that lie further and further apart."""

    name = "losses"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self.activations = Activations(recorder, self._modules)
        self._pairings = Pairings(recorder, self._modules)
        self._dependences = Dependences(recorder, self._modules)
        self._tokens = Tokens(recorder, self._modules)
        self._masks = Masks(recorder)
        self._terms = Terms(recorder)
        self._scales = TermScales(recorder, LOSSES)
        self._shortcuts = Shortcuts(recorder, self._modules)
        self._own_targets = OwnTargets(recorder)
        self._idle = IdleParts(recorder)
        self._thrown = ThrownTermsExam(recorder)
        self._picked = PickedScores(recorder, self._producer)
        self._lone = LoneAnswers(recorder)
        self._zeros = ZeroLosses(recorder)
        self._sums = SummedLosses(recorder, self._modules)
        self._draws = RepeatedDraws(recorder)
        self._overflows = SwallowedOverflows(recorder)
        self._distances = HandDistances(recorder)
        self._directions = Directions(recorder, self._modules, self._optimizers)
        self._trace: CallTrace | None = None
        self._backwards = 0
        self._exams = 0
        self._wanted = False
        self._calls: list[tuple[Call, LossCall]] = []
        self._meetings: list[tuple[Call, AccidentalBroadcast]] = []

    def remove(self) -> None:
        if self._trace is not None:
            self._trace.stop()
            self._trace = None

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._trace is not None:
            self._directions.follow(self._trace, roots)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self._trace is not None:
            self._draws.reach(self._trace, roots)
            self._thrown.close(self._trace, roots)
            self._zeros.close(self._trace, roots)
            self._scales.close(self._trace, roots)
            self._sums.close(self._trace, roots)
        # A loop that updates weights by hand has no other clock.
        if self.recorder.step == 0:
            self._backwards += 1
            self._tick(self._backwards)

    def on_optimizer(self, optimizer: Any) -> None:
        self.recorder.wake(self)

    def on_step_done(self, optimizer: Any) -> None:
        self._tick(self._optimizers.steps_of(optimizer))
        if self._trace is None and not self._wanted:
            self.recorder.rest(self, until=self.recorder.step + self._steps_to_next_exam())

    def _steps_to_next_exam(self) -> int:
        if self._exams >= _MOST_EXAMS:
            return sys.maxsize
        made = [self._optimizers.steps_of(optimizer) for optimizer in self._optimizers.alive()]
        return min((next_of(EXAMINED_AFTER, steps) - steps - 1 for steps in made), default=sys.maxsize)

    def on_crash(self, error: BaseException) -> None:
        self.remove()

    def on_finish(self) -> None:
        self.remove()
        self.activations.write()
        parts: tuple[Any, ...] = (self._terms, self._scales, self._idle, self._draws)
        for part in parts:
            part.write()

    def _tick(self, time: int) -> None:
        """Every optimizer has a clock of its own: a second training in the same script is examined too."""
        if self.recorder.clock_is_held:
            self.remove()
            return
        if self._trace is not None:
            self._close()
        if time in EXAMINED_AFTER and self._exams < _MOST_EXAMS:
            self._exams += 1
            self._wanted = True
        if self._wanted and not is_compiled():
            trace = CallTrace(shielded(self)(self._look))
            self._wanted = not trace.start()
            self._trace = None if self._wanted else trace

    def _close(self) -> None:
        """Write down what was seen in one step."""
        trace = self._trace
        self.remove()
        if trace is None:
            return
        for call, seen in self._calls:
            if seen.function != "-" or trace.is_reduced(call.index):
                self.recorder.observe(seen)
        for call, meeting in self._meetings:
            if meeting.in_loss_function or trace.is_reduced(call.index):
                self.recorder.observe(meeting)
        self.activations.close(trace)
        parts: tuple[Any, ...] = (self._pairings, self._dependences, self._tokens, self._masks, self._directions)
        for part in (*parts, self._shortcuts, self._overflows, self._draws):
            part.close()
        self._terms.close(trace)
        self._own_targets.close(trace)
        self._lone.close(trace)
        self._distances.close(trace)
        self._calls.clear()
        self._meetings.clear()

    def _look(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if self.recorder.clock_is_held or self._trace is None:
            return
        with torch.no_grad():
            self._draws.look(call, args, kwargs, result)
        if not torch.is_grad_enabled() and call.name != "eq":
            return
        try:
            with torch.no_grad():
                self._masks.look(self._trace, call, args, kwargs)
                self._terms.look(self._trace, call, args, result)
                self._scales.look(self._trace, call, args, kwargs, result)
                self._shortcuts.look(self._trace, call, args, result)
                self._own_targets.changed.look(call, args, result)
                self._idle.look(self._trace, call, args, result)
                self._picked.look(self._trace, call, args, kwargs)
                self._lone.look(self._trace, call, args, kwargs)
                self._zeros.look(call, args, kwargs, result)
                self._directions.look(self._trace, call, args, result)
                self._sums.look(call, args)
                self._overflows.look(self._trace, call, args, result)
                self._distances.look(call, args)
                if call.name in LOSSES:
                    self._look_at_loss(call, args, kwargs, result)
                elif call.name in _PAIRING:
                    self._look_at_pair(call, args, result)
                elif call.name == "eq":
                    self._look_at_match(call, args, result)
                elif call.name == "log_softmax":
                    self._look_at_log_softmax(call, args)
                else:
                    self.activations.look(self._trace, call, args, result)
                    self._pairings.look_at_layer(self._trace, call, args)
                    self._pairings.look_at_norm(call, args)
                    self._pairings.look_at_cast(call, args, result)
                    self._pairings.look_at_pick(call, args, kwargs)
                    self._dependences.look(self._trace, call, args)
                    self._tokens.look(call, args, result)
        except Exception as error:  # noqa: BLE001
            self.recorder.switch_off(self, error)

    # -- loss functions ------------------------------------------------------------------------------------------

    def _look_at_loss(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        given = args[0] if args else kwargs.get("input")
        at = _SIGN_LOSSES.get(call.name, 1)
        target = args[at] if len(args) > at else kwargs.get("target")
        if not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if not (given.requires_grad or target.requires_grad) or len(self._calls) >= _MOST_PER_STEP:
            return
        if call.name in _DISTANCE_LOSSES and looks.made_pairs(given, target):
            self._note_meeting(call, given, target, looks.together(given, target), True)
        fact = self._loss_call(call, call.name, given, target, result)
        self._calls.append((call, fact))
        if self._trace is not None:
            self._masks.look_at_loss(given)
            self._terms.look_at_loss(self._trace, fact, given, target)
            self._own_targets.look_at_loss(self._trace, fact, given, target)
        if call.name not in (*_SIGN_LOSSES, *_PATH_LOSSES) and self._trace is not None:
            self._pairings.look_at_loss(self._trace, call, fact, args, kwargs)
            self._dependences.look_at_loss(self._trace, given)
            self._tokens.look_at_loss(self._trace, fact, given, target)

    def _look_at_log_softmax(self, call: Call, args: tuple[Any, ...]) -> None:
        """The first half of a hand-written cross-entropy: it wants what no softmax has touched."""
        given = args[0] if args else None
        if self._trace is None or not isinstance(given, torch.Tensor) or not given.requires_grad or not given.ndim:
            return
        maker, _ = self._trace.real_maker(given)
        if maker is not None and maker.name == "softmax" and len(self._calls) < _MOST_PER_STEP:
            dim = call.options.get("dim")
            fact = self._loss_call(call, call.name, given, given, None)
            names = (*operand_names(fact.expression), "input")[0], "target"
            class_dim = (-1 if dim is None else int(dim)) % given.ndim
            self._calls.append((call, replace(fact, names=names, class_dim=class_dim)))

    def _loss_call(self, call: Call, function: str, given: Any, target: Any, result: Any) -> LossCall:
        assert self._trace is not None
        maker, _ = self._trace.real_maker(given)
        producer = self._producer(maker)
        target_maker, passed = self._trace.real_maker(target)
        values, wanted = looks.plain(given), looks.plain(target)
        facts: dict[str, Any] = {}
        if values is not None:
            facts["sums_to_one"], facts["is_log"] = looks.sums_to_one(values)
            if values.ndim and values.shape[0] > 1:
                facts["given_spread"] = float(values.std(0).mean())
        if function in _CLASS_LOSSES:
            facts |= self._class_facts(call, function, given, target)
        elif wanted is not None:
            facts |= _target_facts(function, producer, wanted)
        place = call.place
        return LossCall(
            step=self.recorder.step,
            function=function,
            where=place.location() if place else None,
            expression=place.expression() if place else "",
            names=_names(place.expression() if place else "", function, _SIGN_LOSSES.get(function, 1)),
            given=torch_summary(given),
            target=torch_summary(target),
            loss=float(result) if isinstance(result, torch.Tensor) and result.numel() == 1 else None,
            options={key: str(value) for key, value in call.options.items()},
            producer=producer,
            target_producer=self._producer(target_maker),
            target_picked=target_maker is None and bool({"getitem", "index_select"} & set(passed)),
            **facts,
        )

    def _class_facts(self, call: Call, function: str, given: Any, target: Any) -> dict[str, Any]:
        assert self._trace is not None
        dim = 1 if given.ndim > 1 else 0
        facts: dict[str, Any] = {"class_dim": dim}
        if target.is_floating_point():
            values = looks.plain(target)
            if values is not None and values.ndim > dim:
                rows = values.sum(dim)
                facts["target_rows"] = (float(rows.min()), float(rows.max()))
        elif target.numel() <= looks.MOST_ELEMENTS:
            facts["counts"], facts["ignored"] = looks.class_counts(target, int(call.options.get("ignore_index", -100)))
            facts["baseline"] = looks.baseline(function, target, facts["counts"])
        made = self._trace.maker_of(given) if given.ndim == 2 else None
        mixed = looks.mixed_by_view(self._trace, made, given.shape[1]) if given.ndim == 2 else None
        if mixed is not None:
            facts["scrambled"], facts["scrambled_from"] = self._producer(mixed[0]), mixed[1]
        return facts

    # -- hand-written losses -------------------------------------------------------------------------------------

    def _look_at_pair(self, call: Call, args: tuple[Any, ...], result: Any) -> None:
        if len(args) < 2 or not all(isinstance(a, torch.Tensor) for a in args[:2]):
            return
        first, second = args[0], args[1]
        if call.name == "sub" and call.is_users and first.requires_grad and second.requires_grad and self._trace:
            self._own_targets.look_at_difference(self._trace, call, (first, second))
        if first.requires_grad == second.requires_grad or first.ndim == 0 or second.ndim == 0:
            return
        if looks.made_pairs(first, second):
            text = call.place.expression() if call.place else ""
            if not any(sign in text for sign in _ON_PURPOSE) and not _is_table(call.name, text, first, second):
                self._note_meeting(call, first, second, result.shape, False)
        elif call.name == "sub" and first.shape == second.shape and len(self._calls) < _MOST_PER_STEP:
            given, target = (first, second) if first.requires_grad else (second, first)
            maker, _ = self._trace.real_maker(given) if self._trace else (None, ())
            if maker is not None and maker.name in looks.REACH:
                self._calls.append((call, self._loss_call(call, "-", given, target, None)))

    def _look_at_match(self, call: Call, args: tuple[Any, ...], result: Any) -> None:
        """Answers that are counted as right: of tables of who equals whom, both sides hold the same values."""
        if len(args) < 2 or not all(isinstance(a, torch.Tensor) for a in args[:2]) or not call.is_users:
            return
        text = call.place.expression() if call.place else ""
        if not looks.made_pairs(args[0], args[1]) or any(sign in text for sign in (*_ON_PURPOSE, *_CUT_OUT)):
            return
        if not torch.equal(args[0].flatten().double(), args[1].flatten().double()):
            self._note_meeting(call, args[0], args[1], result.shape, False)

    def _note_meeting(self, call: Call, first: Any, second: Any, shape: Any, in_loss_function: bool) -> None:
        place = call.place
        text = place.expression() if place else ""
        meeting = AccidentalBroadcast(
            step=self.recorder.step,
            op=call.name,
            where=place.location() if place else None,
            expression=text,
            names=_names(text, call.name),
            shapes=(tuple(first.shape), tuple(second.shape)),
            result=tuple(shape),
            in_loss_function=in_loss_function,
            first_depends=first.requires_grad,
        )
        if len(self._meetings) < _MOST_PER_STEP:
            self._meetings.append((call, meeting))

    def _producer(self, call: Call | None) -> Producer | None:
        if call is None:
            return None
        layer = call.layer
        return Producer(
            op=call.name,
            where=call.place.location() if call.place else None,
            expression=call.place.expression() if call.place else "",
            dim=call.options.get("dim"),
            layer=type(layer).__name__ if layer is not None else "",
            layer_built=self._modules.born_at(layer) if layer is not None else None,
            direct=call.direct,
        )


def _is_table(op: str, text: str, first: torch.Tensor, second: torch.Tensor) -> bool:
    """A column that meets as many centres or frequencies as the batch has rows: all pairs of them are meant."""
    if not any(sign in text for sign in _CUT_OUT):
        return False
    return op not in ("sub", "rsub") or any(isinstance(side, torch.nn.Parameter) for side in (first, second))


def _target_facts(function: str, producer: Producer | None, target: torch.Tensor) -> dict[str, Any]:
    facts: dict[str, Any] = {"baseline": looks.baseline(function, target, {})}
    reach = looks.REACH.get(producer.op) if producer is not None else None
    if reach is not None and function in (*_DISTANCE_LOSSES, "-"):
        facts["reach"] = reach
        facts["outside"] = looks.share_outside(target, reach)
    elif function in _PROBABILITY_LOSSES[:2]:
        facts["outside"] = float(((target < 0) | (target > 1)).double().mean())
    if function == "kl_div" and target.ndim:
        rows = target.sum(-1)
        facts["target_rows"] = (float(rows.min()), float(rows.max()))
    return facts


def _names(expression: str, function: str, at: int = 1) -> tuple[str, str]:
    """How the user wrote the two operands; `input` and `target` where that cannot be told."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return "input", "target"
    if isinstance(tree, ast.Call):
        by_name = {k.arg: ast.unparse(k.value) for k in tree.keywords if k.arg in ("input", "target")}
        positional = [ast.unparse(a) for a in tree.args]
        both = [*positional[:1], *positional[at : at + 1], *(by_name[k] for k in ("input", "target") if k in by_name)]
        if len(both) == 2 and function in LOSSES:
            return both[0], both[1]
    names = operand_names(expression)
    return (names[0], names[1]) if len(names) == 2 and function not in LOSSES else ("input", "target")
