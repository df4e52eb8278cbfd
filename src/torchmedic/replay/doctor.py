"""The probe at the heart: withholds a sick update, has the step run again, and writes down what it saw."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from torchmedic.facts import Growth, Origin, SickStep, Source, Trial
from torchmedic.probes.frames import user_location
from torchmedic.probes.loaders import Loaders
from torchmedic.probes.modules import Modules
from torchmedic.probes.optimizers import Optimizers
from torchmedic.probes.trace import Op, Trace
from torchmedic.record import Probe, Recorder
from torchmedic.replay.ancestry import amplifier
from torchmedic.replay.beginnings import Handed, Withheld
from torchmedic.replay.cures import Cure, Treatment, cures_for, wrapped
from torchmedic.replay.guard import Guard, Suspicion, bad_tensors
from torchmedic.replay.keepsakes import save_reproduction, save_state
from torchmedic.replay.loops import find_loop
from torchmedic.replay.microscope import Findings, describe, investigate, microscope
from torchmedic.replay.scalers import Scalers, WithoutAutocast
from torchmedic.replay.session import Outcome, Pass, Session
from torchmedic.replay.sources import identify, stopped_for_bad_numbers

MOST_TRIALS = 8
MOST_FURTHER = 20


class SickRun(SystemExit):
    """Ends the script at a sick step; not an `Exception`, so that a broad `except` does not swallow it."""


class Doctor(Probe):
    """Guard, session and microscope in one: hears every event, acts when the guard says so."""

    name = "replay"

    def __init__(self, modules: Modules, optimizers: Optimizers, loaders: Loaders) -> None:
        self.guard = Guard(modules, optimizers)
        self._modules = modules
        self._optimizers = optimizers
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self.guard.install(recorder)
        self._session: Session | None = None
        self._withheld: dict[int, Withheld] = {}
        self._optimizer: Any = None
        self._examined = False
        self._further = 0
        self._trace: Trace | None = None
        self._findings: Findings | None = None
        self._trials: list[Trial] = []
        self._suspicion: Suspicion | None = None
        self._reproduced = False
        self._scalers = Scalers()
        self._scalers.install()

    def remove(self) -> None:
        if self._session is not None:
            self._session.abandon()
        self._scalers.remove()

    # -- events --------------------------------------------------------------------------------------------------

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self._session is None:
            self.guard.on_batch_of(Handed(batch, *self._loaders.batch_facts(iterator)))

    def on_zero_grad(self, optimizer: Any) -> None:
        if self._session is None:
            self.guard.on_zero_grad(optimizer)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._session is None:
            self.guard.on_backward(roots)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self._session is not None:
            self._on_replayed_backward(roots)
        elif self._scalers.is_scaling:
            if self._scalers.loss_is_bad or (self._scalers.has_collapsed and self.guard.looks_bad(roots)):
                self.guard.suspect_under_scaler(roots, self._scalers.unscaled_loss)
                self._begin(None)
        else:
            self.guard.on_backward_done(roots)
            if self.guard.has_no_optimizer_and_stays_sick():
                self._begin(None)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if self._session is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
            if self._session.is_running and optimizer is self._optimizer:
                self._session.end_pass(self._last_roots)
            return None
        if callable(closure):
            return self._with_watched_closure(optimizer, closure, args, kwargs)
        if _bad_learning_rate(optimizer) is not None:
            self._report_learning_rate(optimizer)
        elif self.guard.is_sick(optimizer):
            self._begin(optimizer)
        return None

    def on_step_done(self, optimizer: Any) -> None:
        withheld = self._withheld.pop(id(optimizer), None)
        if withheld is not None:
            withheld.put_back()
        elif self._session is None:
            self.guard.on_step_done(optimizer)
            if self.guard.weights_went_bad():
                self._report_bad_update(optimizer)

    def on_crash(self, error: BaseException) -> None:
        """A script that stops itself at a NaN: the step is not at hand any more, but known."""
        if self._session is not None:
            self._session.abandon()
            self._session = None
            self.recorder.clock_is_held = False
        elif self._examined or not stopped_for_bad_numbers(error):
            return
        self.recorder.observe(
            SickStep(step=self.recorder.step + 1, what="crash", backward_at=None, way="the script stopped itself")
        )

    # -- one sick step -------------------------------------------------------------------------------------------

    def _begin(self, optimizer: Any) -> None:
        """Start the investigation from inside the sick step."""
        suspicion = self.guard.suspicion
        assert suspicion is not None
        if self._examined:
            self._count_another(optimizer)
            return
        session = self._take_on(suspicion, optimizer)
        place = find_loop(sys._getframe(1), suspicion.stack)
        if place is not None and place != (suspicion.frame, suspicion.loop):
            suspicion.frame, suspicion.loop = place
            suspicion.names = dict(suspicion.beginning.names)
        if optimizer is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
        self._ask_microscope(0)
        session.next_by_jump()

    def _with_watched_closure(self, optimizer: Any, closure: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        def watched() -> Any:
            result = closure()
            if self._session is None and not self._examined and self.guard.is_sick(optimizer):
                self._begin_by_closure(optimizer, closure)
            return result

        if "closure" in kwargs:
            return args, {**kwargs, "closure": watched}
        return (args[0], watched, *args[2:]), kwargs

    def _begin_by_closure(self, optimizer: Any, closure: Callable[[], Any]) -> None:
        suspicion = self.guard.suspicion
        assert suspicion is not None
        session = self._take_on(suspicion, optimizer)
        self._ask_microscope(0)
        session.all_by_closure(closure)

    def _take_on(self, suspicion: Suspicion, optimizer: Any) -> Session:
        self._examined = True
        self._optimizer = optimizer
        self._suspicion = suspicion
        self._last_roots: tuple[Any, ...] = suspicion.roots
        self._step = self.recorder.step + 1
        self.recorder.clock_is_held = True
        self._session = Session(suspicion, self.guard, self.guard.buffers, self._over)
        return self._session

    def _on_replayed_backward(self, roots: tuple[Any, ...]) -> None:
        session = self._session
        assert session is not None
        if not session.is_running:
            return
        self._last_roots = roots
        suspicion = self._suspicion
        at_the_end = self._optimizer is None and suspicion is not None and user_location() == suspicion.backward_at
        if at_the_end or self.guard.looks_bad(roots):
            session.end_pass(roots)

    def _next(self) -> None:
        if self._session is not None and "closure" not in self._session.way:
            self._session.next_by_jump()

    # -- questions -----------------------------------------------------------------------------------------------

    def _ask_microscope(self, random: int) -> None:
        trace = microscope()
        trace.name_modules(self._modules.roots())

        def looked(outcome: Outcome) -> None:
            if outcome.is_sick:
                self._trace = trace
                self._findings = investigate(trace, self._seeds(trace, outcome))
                self._reproduced = True
                self._plan_trials()
            elif random == 0 and self._suspicion is not None and len(self._suspicion.beginning.candidates()) > 1:
                self._ask_microscope(1)
            self._next()

        assert self._session is not None
        self._session.ask(Pass(mode=trace, done=looked, random=random))

    def _seeds(self, trace: Trace, outcome: Outcome) -> list[int]:
        made = [trace.maker_of(root) for root in outcome.roots if bad_tensors([root.detach()])]
        seeds = [index for index in made if index is not None]
        if not seeds:
            gradients = [p.grad for p in self.guard.parameters().values() if p.grad is not None]
            seeds = [i for i in (trace.maker_of(g) for g in gradients if bad_tensors([g])) if i is not None]
        return seeds

    def _plan_trials(self) -> None:
        if self._findings is None or self._trace is None or self._session is None:
            return
        origin = self._findings.origin
        forward = self._trace.ops[origin.forward] if origin.forward is not None else None
        place = (forward or origin).place
        if place is None or self._findings.entered is not None:
            return
        if _half_precision(self._trace):
            self._session.ask(self._without_autocast())
        for cure in cures_for(origin, forward)[:MOST_TRIALS]:
            self._session.ask(self._trial(cure, Treatment(cure, place), forward or origin))

    def _trial(self, cure: Cure, treatment: Treatment, op: Op) -> Pass:
        def judged(outcome: Outcome) -> None:
            if treatment.applied:
                self._trials.append(self._trial_fact(cure, outcome, op))
            self._next()

        return Pass(mode=treatment, done=judged)

    def _without_autocast(self) -> Pass:
        full = WithoutAutocast()

        def judged(outcome: Outcome) -> None:
            if full.applied:
                self._trials.append(Trial(
                    step=self._step, suspect="half precision", change="the whole step in float32, without autocast",
                    helps=not outcome.is_sick, loss=outcome.loss, is_cure=True,
                ))
            self._next()

        return Pass(mode=full, done=judged)

    def _trial_fact(self, cure: Cure, outcome: Outcome, op: Op) -> Trial:
        assert self._trace is not None
        fact = describe(self._trace, op)
        names = [operand.name for operand in fact.operands if operand.name]
        operand = names[-1] if cure.suspect == "divisor" and names else (names[0] if names else "x")
        return Trial(
            step=self._step,
            suspect=cure.suspect,
            change=cure.text.replace("{x}", wrapped(operand)),
            helps=not outcome.is_sick,
            loss=outcome.loss,
            hides=cure.hides,
            is_cure=cure.is_cure,
        )

    # -- the answer ----------------------------------------------------------------------------------------------

    def _over(self, reason: str) -> None:
        """All questions are answered, or none can be: write the facts, and stop the run if that is wished."""
        session, self._session = self._session, None
        assert session is not None
        session.abandon()
        self.recorder.clock_is_held = False
        self.write_facts(reason or session.way, time.perf_counter() - session.started)
        self._stop_if_wished()

    def _stop_if_wished(self) -> None:
        if self.recorder.settings.on_sick == "stop":
            self.recorder.stopped_by_us = True
            self.recorder.flush()
            for withheld in self._withheld.values():
                withheld.put_back()
            raise SickRun(1)

    def write_facts(self, way: str, seconds: float) -> None:
        """Write down what the replays have shown, and keep weights and operands."""
        suspicion = self._suspicion
        assert suspicion is not None
        parameters = self.guard.parameters()
        step = self._step
        bad = [n for n, p in parameters.items() if p.grad is not None and bad_tensors([p.grad])]
        if self._findings is not None:
            self.recorder.observe(self._origin(step))
        for trial in self._trials:
            self.recorder.observe(trial)
        self.recorder.observe(
            SickStep(
                step=step,
                what=suspicion.what,
                loss=suspicion.loss,
                bad_parameters=tuple(bad[:40]),
                parameters=len(parameters),
                backward_at=suspicion.backward_at,
                reproduced=self._reproduced,
                way=way,
                seconds=seconds,
                weights_saved=save_state(self.recorder.folder, step, self._modules.roots(), self._optimizers.alive()),
                scale=self._scalers.scale,
            )
        )
        if self._trace is not None and self._findings is not None:
            save_reproduction(self.recorder.folder, self._trace, self._findings.origin)

    def _origin(self, step: int) -> Origin:
        findings, trace, suspicion = self._findings, self._trace, self._suspicion
        assert findings is not None and trace is not None and suspicion is not None
        optimizer = self._optimizer or next(iter(self._optimizers.alive()), None)
        return Origin(
            step=step,
            op=describe(trace, findings.origin),
            turn=describe(trace, findings.turn) if findings.turn else None,
            placed=describe(trace, findings.placed) if findings.placed else None,
            chain=tuple(describe(trace, op) for op in findings.chain),
            source=self._source(findings, suspicion),
            growth=self._growth(),
            losses=tuple(self.guard.losses),
            learning_rate=_learning_rate(optimizer),
            optimizer=type(optimizer).__name__ if optimizer is not None else "",
            optimizer_built=self._optimizers.built_at(optimizer) if optimizer is not None else None,
            autocast=_half_precision(trace),
            amplifier=amplifier(trace, self._modules.roots(), self._modules.born_at),
            others=tuple(op.place.location() for op in findings.others if op.place)[:5],
        )

    def _source(self, findings: Findings, suspicion: Suspicion) -> Source | None:
        if findings.entered is None:
            return None
        return identify(
            findings.entered.key,
            roots=self._modules.roots(),
            handed=suspicion.beginning.handed,
            frame=suspicion.frame or sys._getframe(1),
            like=self._trace.outsiders.get(findings.entered.key) if self._trace is not None else None,
        )

    def _growth(self) -> tuple[Growth, ...]:
        """The parameters whose norm grew most over the steps kept."""
        rows = [row for row in self.guard.norms if row and len(row) == len(self.guard.norms[-1])]
        if len(rows) < 2:
            return ()
        names = self.guard.parameter_names()
        series = [(names[i] if i < len(names) else f"parameter {i}", [row[i] for row in rows]) for i in range(len(rows[0]))]
        grown = sorted(series, key=lambda s: s[1][-1] / (s[1][0] + 1e-12), reverse=True)
        return tuple(Growth(name=name, values=tuple(values)) for name, values in grown[:3])

    def _count_another(self, optimizer: Any) -> None:
        """A further sick step of a run that goes on: withheld if so wished, counted, not looked into."""
        suspicion = self.guard.suspicion
        if self.recorder.settings.on_sick == "skip" and optimizer is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
        self._further += 1
        if self._further <= MOST_FURTHER:
            what = suspicion.what if suspicion else ""
            self.recorder.observe(SickStep(step=self.recorder.step + 1, what=what, way="not looked into"))
        self.guard.suspicion = None

    def _report_bad_update(self, optimizer: Any) -> None:
        """Finite gradients, yet weights that are not: the update itself overflowed."""
        names = [n for n, p in self.guard.parameters().items() if bad_tensors([p.detach()])]
        self._report_plainly(optimizer, what="update", step=self.recorder.step, bad=names, way="seen after the update")

    def _report_learning_rate(self, optimizer: Any) -> None:
        """A learning rate that is no number spoils every weight: the update is withheld."""
        self._withheld[id(optimizer)] = Withheld(optimizer)
        self._report_plainly(
            optimizer, what="learning-rate", step=self.recorder.step + 1, bad=[], way="seen before the update"
        )

    def _report_plainly(self, optimizer: Any, *, what: str, step: int, bad: list[str], way: str) -> None:
        """A sick step whose cause is in plain sight: nothing needs to run again."""
        if self._examined:
            return
        self._examined = True
        self.recorder.observe(
            SickStep(
                step=step,
                what=what,
                loss=self.guard.losses[-1] if self.guard.losses else None,
                bad_parameters=tuple(bad[:40]),
                parameters=len(self.guard.parameters()),
                backward_at=user_location(),
                way=way,
                learning_rate=_bad_learning_rate(optimizer) or str(_learning_rate(optimizer)),
                optimizer=type(optimizer).__name__,
                optimizer_built=self._optimizers.built_at(optimizer),
            )
        )
        self._stop_if_wished()


def _half_precision(trace: Trace) -> str:
    """The half-precision type that the step computes in, or an empty string."""
    made = (seen.dtype for op in trace.ops if op.phase == "forward" for seen in op.outputs)
    return next((dtype for dtype in made if dtype in ("float16", "bfloat16")), "")


def _bad_learning_rate(optimizer: Any) -> str | None:
    """The text of a learning rate that is no number."""
    for group in optimizer.param_groups:
        rate = group.get("lr")
        if isinstance(rate, (int, float)) and not math.isfinite(rate):
            return str(rate)
        if isinstance(rate, complex):
            return str(rate)
    return None


def _learning_rate(optimizer: Any) -> float | None:
    value = optimizer.param_groups[0].get("lr") if optimizer is not None and optimizer.param_groups else None
    return float(value) if value is not None and math.isfinite(float(value)) else None
