"""The probe at the heart: withholds a sick update, has the step run again, and has it written down."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torchmedic.facts import SickElsewhere, SickStep
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.modes import take_off
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import hide_frame
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, say
from torchmedic.replay.beginnings import Handed, Withheld
from torchmedic.replay.case import Case
from torchmedic.replay.company import READING_WEIGHTS, Company, is_sharded, wrappers_in
from torchmedic.replay.guard import Guard, Suspicion
from torchmedic.replay.left_out import leave_out
from torchmedic.replay.loops import find_loop, read_names
from torchmedic.replay.overflow import may_overflow
from torchmedic.replay.report import Report, bad_learning_rate
from torchmedic.replay.scalers import Scalers
from torchmedic.replay.session import Pass, Session
from torchmedic.replay.sources import stopped_for_bad_numbers
from torchmedic.replay.updates import look_into

MOST_FURTHER = 20


class SickRun(SystemExit):
    """Ends the script at a sick step; not an `Exception`, so that a broad `except` does not swallow it."""


class Doctor(Probe):
    """Guard, session and report in one: hears every event, acts when the guard says so."""

    name = "replay"

    def __init__(self, modules: Modules, optimizers: Optimizers, loaders: Loaders) -> None:
        self.guard = Guard(modules, optimizers)
        self._modules = modules
        self._optimizers = optimizers
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self.guard.install(recorder)
        self.report = Report(recorder, self.guard, self._modules, self._optimizers)
        self._case: Case | None = None
        self._session: Session | None = None
        self._withheld: dict[int, Withheld] = {}
        self._precautions: dict[int, Withheld] = {}
        self._last_roots: tuple[Any, ...] = ()
        self._further = 0
        self._company = Company()
        self._is_sharded = False
        self._scalers = Scalers()
        self._scalers.install()
        self._left_on: list[Any] = []

    def remove(self) -> None:
        if self._session is not None:
            self._abandon(self._session)
        self._take_off()
        self._scalers.remove()

    def _abandon(self, session: Session) -> None:
        session.abandon()
        self._left_on += session.left_on

    def _take_off(self) -> None:
        """Modes of a session that ended in the middle of a call: now that the call is over they can go."""
        self._left_on = [mode for mode in self._left_on if not take_off(mode)]

    # -- events --------------------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether a sick step is being looked into, or was; or a scaler is in charge, which skips steps by itself."""
        return self._case is not None or bool(self._further) or self._scalers.is_scaling

    def on_optimizer(self, optimizer: Any) -> None:
        """Shards of parameters tell a rank its own part only, and looking at them whole would cost messages."""
        self.guard.on_optimizer(optimizer)
        if is_sharded(optimizer):
            self.recorder.rest(self)
            self.recorder.retire(READING_WEIGHTS)
            if not self.recorder.rank and not self._is_sharded:
                say("parameters are sharded (DTensor): weights and gradients are not examined, and no step is withheld")
            self._is_sharded = True

    def on_fetch(self, iterator: Any) -> Any:
        return self._session.batch_again() if self._session is not None else None

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self._session is None:
            facts = self._loaders.batch_facts(iterator)
            self.guard.on_batch_of(Handed(batch, *facts, iterator=weakref.ref(iterator)))

    def on_zero_grad(self, optimizer: Any) -> None:
        if self._session is None:
            self.guard.on_zero_grad(optimizer)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self._session is not None:
            self._on_replayed_backward(roots)
        elif self._scalers.is_scaling:
            if self._scalers.loss_is_bad or (self._scalers.has_collapsed and self.guard.looks_bad(roots)):
                self.guard.suspect_under_scaler(roots, self._scalers.unscaled_loss)
                self._begin(None)
        else:
            self.guard.on_backward_done(roots)
            if self.guard.suspicion is not None and self.guard.nobody_will_ask():
                self._begin(None)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if not self.guard.norms:
            self.guard.before_first_update()
        if self._session is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
            if self._session.is_running and self._case is not None and optimizer is self._case.optimizer:
                self._session.end_pass(self._last_roots)
        elif callable(closure):
            return self._with_watched_closure(optimizer, closure, args, kwargs)
        elif bad_learning_rate(optimizer) is not None:
            if self.recorder.settings.on_sick != "continue":
                self._withheld[id(optimizer)] = Withheld(optimizer)
                self._leave_out(self.recorder.step_of(optimizer))
            self._report_plainly(optimizer, "learning-rate", self.recorder.step + 1, "seen before the update")
        elif self.guard.is_sick(optimizer) and self._is_shared(optimizer):
            self._begin(optimizer)
        elif may_overflow(optimizer, self.guard.gradient_size):
            self._precautions[id(optimizer)] = Withheld(optimizer)
        return None

    def on_step_done(self, optimizer: Any) -> None:
        withheld = self._withheld.pop(id(optimizer), None)
        if withheld is not None:
            withheld.put_back()
        if self._left_on:
            self._take_off()
        if self._session is None:
            precaution = self._precautions.pop(id(optimizer), None)
            self.guard.on_step_done(optimizer)
            if self.guard.weights_went_bad() or (precaution is not None and precaution.went_bad()):
                self._report_bad_update(optimizer, precaution)

    def on_crash(self, error: BaseException) -> None:
        """A script that stops itself at a NaN, or fails in a replay: the step is not at hand any more, but known."""
        if self._session is not None:
            self._abandon(self._session)
            self._session = None
            self.recorder.clock_is_held = False
        elif self._case is not None or not stopped_for_bad_numbers(error):
            return
        self.recorder.observe(SickStep(step=self.recorder.step + 1, what="crash", way="the script stopped itself"))

    # -- one sick step -------------------------------------------------------------------------------------------

    def _begin(self, optimizer: Any) -> None:
        """Start the investigation from inside the sick step."""
        suspicion = self.guard.suspicion
        assert suspicion is not None
        if self._case is not None:
            self._count_another(optimizer)
            return
        place = find_loop(sys._getframe(1), suspicion.stack)
        if place is not None and place != (suspicion.frame, suspicion.loop):
            suspicion.frame, suspicion.loop = place
            suspicion.names = dict(suspicion.beginning.names)
        if place is not None:
            suspicion.drawn = read_names(place[0], place[1].bound)
        if optimizer is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
        if self._company.assembles():
            self._take_on(suspicion, optimizer).next_by_jump()
        else:
            self._report_alone(optimizer, suspicion)

    def _is_shared(self, optimizer: Any) -> bool:
        """No rank skips alone: a bad loss whose gradients are finite is known to this rank only, and is let pass."""
        self._company = Company(wrappers_in(self._modules.alive()))
        if self._company.is_alone or self.guard.knows_of_earlier_step or self.guard.bad_gradients(optimizer):
            return True
        suspicion, self.guard.suspicion = self.guard.suspicion, None
        if suspicion is not None and not self._further:
            self._further = 1
            self.recorder.observe(SickElsewhere(step=suspicion.step, loss=suspicion.loss, where=suspicion.backward_at))
        return False

    def _report_alone(self, optimizer: Any, suspicion: Suspicion) -> None:
        """Bad gradients that no other rank has: they are not exchanged, and the update is this rank's own affair."""
        self._withheld.pop(id(optimizer), None)
        bad = self.guard.bad_parameter_names()
        self._report_plainly(optimizer, suspicion.what, suspicion.step, "on this rank alone; not run again", bad)
        self.guard.suspicion = None

    def _with_watched_closure(self, optimizer: Any, closure: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        def watched() -> Any:
            try:
                result = closure()
            except Exception as error:
                hide_frame(error)
                raise
            if self._session is None and self.guard.is_sick(optimizer) and self._is_shared(optimizer):
                self._begin_by_closure(optimizer, closure)
            return result

        if "closure" in kwargs:
            return args, {**kwargs, "closure": watched}
        return (args[0], watched, *args[2:]), kwargs

    def _begin_by_closure(self, optimizer: Any, closure: Callable[[], Any]) -> None:
        """The same from inside the optimizer, which makes its update when the closure has returned."""
        suspicion = self.guard.suspicion
        assert suspicion is not None
        if self._case is not None:
            self._count_another(optimizer)
            return
        if self.recorder.settings.on_sick == "skip":
            self._withheld[id(optimizer)] = Withheld(optimizer)
        if self._company.assembles():
            self._take_on(suspicion, optimizer).all_by_closure(closure)

    def _take_on(self, suspicion: Suspicion, optimizer: Any) -> Session:
        """Open a case with its first question; a run that goes on gets one last pass as it was."""
        self._last_roots = suspicion.roots
        alone = self._company.is_alone
        self._case = Case(suspicion.step, suspicion, optimizer, self.guard, self._modules.roots(), is_alone=alone)
        self.recorder.clock_is_held = True
        self._session = Session(suspicion, self.guard, self._over, self._company)
        self._session.idle = lambda _: self._next()
        if self.recorder.settings.on_sick != "stop":
            self._session.last = Pass(mode=None, done=lambda _: self._next(), is_last=True)
        self._case.ask_microscope(self._session, self._next)
        return self._session

    def _on_replayed_backward(self, roots: tuple[Any, ...]) -> None:
        """A pass ends where the step is sick again, or where the sick backward was and no update follows."""
        if self._session is None or self._case is None or not self._session.is_running:
            return
        self._last_roots = roots
        if not self._company.is_alone and self._case.optimizer is not None:
            self._session.note(roots)
            return
        no_update_follows = self._case.optimizer is None and user_location() == self._case.suspicion.backward_at
        if no_update_follows or self.guard.looks_bad(roots):
            self._session.end_pass(roots)

    def _next(self) -> None:
        if self._session is not None and not self._session.is_by_closure:
            self._session.next_by_jump()

    def _over(self, reason: str) -> None:
        """All questions are answered, or none can be: write the facts, and stop the run if that is wished."""
        session, self._session = self._session, None
        assert session is not None
        assert self._case is not None
        self._abandon(session)
        self.recorder.clock_is_held = False
        if self.recorder.settings.on_sick == "stop":
            self._case.suspicion.buffers.restore()
        found_by_any = self._company.any(self._case.is_reproduced)
        applied = self._lets_pass(self._case, session, reason)
        if self._case.is_reproduced or not found_by_any:
            seconds = time.perf_counter() - session.started
            self.report.write(self._case, reason or session.way, seconds, self._scalers.scale, is_applied=applied)
        else:
            self.recorder.observe(SickElsewhere(step=self._case.step))
        if not applied and self._case.suspicion.what != "scaler":
            self._leave_out(self.recorder.step_of(self._case.optimizer), self._case.suspicion)
        self._stop_if_wished(self._case.step)

    def _lets_pass(self, case: Case, session: Session, reason: str) -> bool:
        """Whether the sick update happens after all: as wished, or as only its owner could prevent.

        A scaler skips the step by itself. Where the loop could not be entered again the update was undone before that
        was known.
        """
        wish = self.recorder.settings.on_sick
        if wish == "stop" or case.suspicion.what == "scaler":
            return False
        if case.optimizer is None:
            return True
        if session.is_by_closure:
            return wish == "continue"
        pending = self._withheld.pop(id(case.optimizer), None) if wish == "continue" else None
        return pending is not None or (wish == "continue" and not reason)

    def _leave_out(self, step: int, suspicion: Suspicion | None = None) -> None:
        """Count a step that is skipped; where a card tells late, it is the one before."""
        if self.recorder.settings.on_sick == "skip":
            beginning = suspicion.beginning if suspicion is not None else self.guard.beginning
            leave_out(self.recorder, min(step, suspicion.step) if suspicion is not None else step, beginning.handed)

    def _stop_if_wished(self, step: int) -> None:
        if self.recorder.settings.on_sick == "stop":
            self.recorder.stopped_in = step
            self.recorder.flush()
            for withheld in self._withheld.values():
                withheld.put_back()
            self._company.any(True)  # a launcher ends the others as soon as one has left: not before all have written
            raise SickRun(1)

    def _report_bad_update(self, optimizer: Any, precaution: Withheld | None) -> None:
        bad = self.guard.bad_parameter_names(of_weights=True)
        undone = precaution is not None and self.recorder.settings.on_sick != "continue"
        if precaution is not None and undone:
            precaution.put_back()
            self._leave_out(self.recorder.step)
            if self._case is None and not self._further and self._explained(optimizer, bad):
                return
        way = "seen after the update, which was undone" if undone else "seen after the update"
        self._report_plainly(optimizer, "update", self.recorder.step, way, bad, undone=undone)

    def _explained(self, optimizer: Any, bad: list[str]) -> bool:
        """Whether the line of the user's own optimizer was found that made the update bad."""
        self._case = look_into(optimizer, self.guard, self._modules.roots(), self.recorder.step)
        if self._case is None:
            return False
        self._case.bad_parameters = bad
        self.report.write(self._case, "the update alone was run again", 0.0, None)
        self._stop_if_wished(self.recorder.step)
        return True

    def _report_plainly(
        self, optimizer: Any, what: str, step: int, way: str, bad: Sequence[str] = (), *, undone: bool = False
    ) -> None:
        if self._case is not None or self._further:
            return
        self._further = 1
        self.report.write_plainly(optimizer, what=what, step=step, bad=bad, way=way, is_saved=undone)
        self._stop_if_wished(step)

    def _count_another(self, optimizer: Any) -> None:
        """A further sick step of a run that goes on: withheld if so wished, counted, not looked into."""
        suspicion = self.guard.suspicion
        if self.recorder.settings.on_sick == "skip" and optimizer is not None:
            self._withheld[id(optimizer)] = Withheld(optimizer)
            self._leave_out(self.recorder.step_of(optimizer), suspicion)
        self._further += 1
        if self._further <= MOST_FURTHER:
            what = suspicion.what if suspicion else ""
            self.recorder.observe(SickStep(step=self.recorder.step + 1, what=what, way="not looked into"))
        self.guard.suspicion = None
