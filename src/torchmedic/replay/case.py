"""One sick step: the questions put to its replays, and the answers that came back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from torchmedic.facts import Trial
from torchmedic.probes.graph.trace import Op, Trace, storage_key
from torchmedic.replay.cures import Cure, Treatment, cures_for, wrapped
from torchmedic.replay.finite import bad_tensors
from torchmedic.replay.guard import Guard, Suspicion
from torchmedic.replay.mending import Mended
from torchmedic.replay.microscope import Findings, describe, investigate, microscope
from torchmedic.replay.scalers import WithoutAutocast
from torchmedic.replay.session import Outcome, Pass, Session
from torchmedic.replay.sources import find

MOST_TRIALS = 8


class Case:
    """What is known of a sick step. `following` is called after each answer, to have the next pass run."""

    def __init__(
        self,
        step: int,
        suspicion: Suspicion,
        optimizer: Any,
        guard: Guard,
        roots: list[nn.Module],
        *,
        is_alone: bool = True,
    ) -> None:
        self.step = step
        self.suspicion = suspicion
        self.optimizer = optimizer
        self.trace: Trace | None = None
        self.findings: Findings | None = None
        self.trials: list[Trial] = []
        self.bad_parameters: list[str] = []
        self.bad_buffers: list[str] = []
        self.is_reproduced = False
        self._guard = guard
        self._is_alone = is_alone
        self._roots = roots
        self._random = 0

    def ask_microscope(self, session: Session, following: Callable[[], None], random: int = 0) -> None:
        """First question: does the step get sick again, and where does it begin?"""
        trace = microscope()
        trace.name_modules(self._roots)

        def looked(outcome: Outcome) -> None:
            if outcome.is_sick:
                self.trace = trace
                self.is_reproduced = True
                self._random = random
                self.bad_parameters = self._guard.bad_parameter_names()
                self.bad_buffers = self._guard.buffer_names(self._guard.spoiled_buffers())
                self.findings = investigate(trace, self._seeds(trace, outcome))
                self._ask_trials(session, following)
            elif random == 0 and (self._is_alone or self.suspicion.what == "loss"):
                # In company the sickness may be another rank's; a bad loss is one's own.
                self.ask_microscope(session, following, random=1)
            following()

        session.ask(Pass(mode=trace, done=looked, random=random))

    def _seeds(self, trace: Trace, outcome: Outcome) -> list[int]:
        """The operations that made the bad loss, or else the bad gradients."""
        made = [trace.maker_of(root) for root in outcome.roots if bad_tensors([root.detach()])]
        if self.suspicion.what == "buffer":
            made += [trace.maker_of(buffer) for buffer in self._guard.spoiled_buffers()]
        seeds = [index for index in made if index is not None]
        if not seeds:
            gradients = [p.grad for p in self._guard.parameters().values() if p.grad is not None]
            seeds = [i for i in (trace.maker_of(g) for g in gradients if bad_tensors([g])) if i is not None]
        return seeds

    def _ask_trials(self, session: Session, following: Callable[[], None]) -> None:
        """More questions: which change of the guilty call, or of the data, makes the step finite?"""
        if self.findings is None or self.trace is None:
            return
        if self.findings.entered is not None:
            self._ask_mended_data(session, self.findings.entered.key, self.trace, following)
            return
        origin = self.findings.origin
        forward = self.trace.ops[origin.forward] if origin.forward is not None else None
        guilty = forward or origin
        if guilty.place is None:
            return
        if half_precision(self.trace):
            session.ask(self._trial_without_autocast(following))
        for cure in cures_for(origin, forward)[:MOST_TRIALS]:
            session.ask(self._trial(cure, Treatment(cure, guilty.place), guilty, following))

    def _ask_mended_data(self, session: Session, key: int, trace: Trace, following: Callable[[], None]) -> None:
        """The bad values came from outside: is the step well when they are finite?"""
        like, suspicion = trace.outsiders.get(key), self.suspicion
        found = find(key, roots=self._roots, handed=suspicion.beginning.handed, frame=suspicion.frame, like=like)
        if found is None or found[0] not in ("batch", "variable") or not found[2].is_floating_point():
            return
        tensors = [found[2]] if like is None or storage_key(like) == storage_key(found[2]) else [found[2], like]

        def judged(outcome: Outcome) -> None:
            self.trials.append(
                Trial(
                    step=self.step,
                    suspect="bad values in the data",
                    change=f"fill the bad values of `{found[1]}`, or leave their rows out",
                    helps=not outcome.is_sick,
                    loss=outcome.loss,
                    is_cure=True,
                )
            )
            following()

        session.ask(Pass(mode=Mended(tensors), done=judged, random=self._random))

    def _trial(self, cure: Cure, treatment: Treatment, op: Op, following: Callable[[], None]) -> Pass:
        def judged(outcome: Outcome) -> None:
            if treatment.applied:
                self.trials.append(self._fact(cure, outcome, op))
            following()

        return Pass(mode=treatment, done=judged, random=self._random)

    def _trial_without_autocast(self, following: Callable[[], None]) -> Pass:
        full = WithoutAutocast()

        def judged(outcome: Outcome) -> None:
            if full.applied:
                self.trials.append(
                    Trial(
                        step=self.step,
                        suspect="half precision",
                        change="the whole step in float32, without autocast",
                        helps=not outcome.is_sick,
                        loss=outcome.loss,
                        is_cure=True,
                    )
                )
            following()

        return Pass(mode=full, done=judged, random=self._random)

    def _fact(self, cure: Cure, outcome: Outcome, op: Op) -> Trial:
        assert self.trace is not None
        names = [operand.name for operand in describe(self.trace, op).operands if operand.name]
        operand = names[-1] if cure.suspect == "divisor" and names else (names[0] if names else "x")
        return Trial(
            step=self.step,
            suspect=cure.suspect,
            change=cure.text.replace("{x}", wrapped(operand)),
            helps=not outcome.is_sick,
            loss=outcome.loss,
            hides=cure.hides,
            is_cure=cure.is_cure,
        )


def half_precision(trace: Trace) -> str:
    """The half-precision type that the step computes in, or an empty string."""
    made = (seen.dtype for op in trace.ops if op.phase == "forward" for seen in op.outputs)
    return next((dtype for dtype in made if dtype in ("float16", "bfloat16")), "")
