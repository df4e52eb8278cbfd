"""Writes a sick step down: its facts for the rules, its weights and first bad operands for the user."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import torch

from torchmedic.facts import Birth, Growth, Origin, SickStep, Source
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.graph.trace import storage_key
from torchmedic.probes.objects.spreads import tensors_in
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Recorder
from torchmedic.replay.ancestry import amplifier
from torchmedic.replay.case import Case, half_precision
from torchmedic.replay.exponentials import largest_exponential
from torchmedic.replay.fetching import births_of_sample
from torchmedic.replay.guard import Guard
from torchmedic.replay.keepsakes import save_reproduction, save_state
from torchmedic.replay.microscope import Findings, describe
from torchmedic.replay.sources import identify, variables

_MOST_NAMES = 40


class Report:
    """Knows the script's modules and optimizers, and puts a case into words for the run file."""

    def __init__(self, recorder: Recorder, guard: Guard, modules: Modules, optimizers: Optimizers) -> None:
        self._recorder = recorder
        self._guard = guard
        self._modules = modules
        self._optimizers = optimizers

    def write(
        self,
        case: Case,
        way: str,
        seconds: float,
        scale: float | None,
        *,
        is_saved: bool = True,
        is_applied: bool = False,
    ) -> None:
        """All facts of a case that was run again, or could not be; what a second run would save is thrown away."""
        if case.findings is not None:
            origin = self._origin(case, case.findings)
            self._recorder.observe(origin)
            for birth in self._births(case, origin.source):
                self._recorder.observe(birth)
            self._note_exponential(case, case.findings)
        for trial in case.trials:
            self._recorder.observe(trial)
        self._recorder.observe(
            SickStep(
                step=case.step,
                what=case.suspicion.what,
                loss=case.suspicion.loss,
                bad_parameters=tuple(case.bad_parameters[:_MOST_NAMES]),
                parameters=len(self._guard.parameters()),
                bad_buffers=tuple(case.bad_buffers[:_MOST_NAMES]),
                backward_at=case.suspicion.backward_at,
                reproduced=case.is_reproduced,
                way=way,
                seconds=seconds,
                weights_saved=self._save(case.step) if is_saved else "",
                scale=scale,
                backwards=self._recorder.backwards,
                by_hand=not self._optimizers.alive(),
                was_applied=is_applied,
            )
        )
        if case.trace is not None and case.findings is not None:
            save_reproduction(self._recorder.folder, case.trace, case.findings.origin)

    def write_plainly(
        self, optimizer: Any, *, what: str, step: int, bad: Sequence[str], way: str, is_saved: bool
    ) -> None:
        """A sick step whose cause is in plain sight: nothing needs to run again."""
        self._recorder.observe(
            SickStep(
                step=step,
                what=what,
                loss=self._guard.losses[-1] if self._guard.losses else None,
                bad_parameters=tuple(bad[:_MOST_NAMES]),
                parameters=len(self._guard.parameters()),
                backward_at=user_location(),
                way=way,
                weights_saved=self._save(step) if is_saved else "",
                learning_rate=bad_learning_rate(optimizer) or str(_learning_rate(optimizer)),
                optimizer=type(optimizer).__name__,
                optimizer_built=self._optimizers.built_at(optimizer),
            )
        )

    def _save(self, step: int) -> str:
        return save_state(self._recorder.folder, step, self._modules.roots(), self._optimizers.alive())

    def _origin(self, case: Case, findings: Findings) -> Origin:
        trace = case.trace
        assert trace is not None
        optimizer = case.optimizer or next(iter(self._optimizers.alive()), None)
        enlarging = amplifier(trace, self._modules.roots(), self._modules.born_at)
        return Origin(
            step=case.step,
            op=describe(trace, findings.origin),
            turn=describe(trace, findings.turn) if findings.turn else None,
            placed=describe(trace, findings.placed) if findings.placed else None,
            chain=tuple(describe(trace, op) for op in findings.chain),
            source=self._source(case, findings),
            samples=self._samples(case),
            growth=self._growth(enlarging.weight if enlarging is not None else ""),
            losses=tuple(self._guard.losses),
            learning_rate=_learning_rate(optimizer),
            optimizer=type(optimizer).__name__ if optimizer is not None else "",
            optimizer_built=self._optimizers.built_at(optimizer) if optimizer is not None else None,
            autocast=half_precision(trace),
            amplifier=enlarging,
            others=tuple(op.place.location() for op in findings.others if op.place)[:5],
        )

    def _note_exponential(self, case: Case, findings: Findings) -> None:
        """Numbers that overflow may have been made enormous before, by an exponential that did not."""
        if case.trace is None or findings.entered is not None or findings.placed is not None:
            return
        loss = case.suspicion.loss
        seen = largest_exponential(case.trace, findings.origin.index, case.step, math.inf if loss is None else loss)
        if seen is not None:
            self._recorder.observe(seen)

    def _samples(self, case: Case) -> tuple[int, ...]:
        """The data set's indices of the batch: of several ranks each has its own, so a row alone names nothing.

        The batch is the one the step has read: loops that look ahead have fetched another since.
        """
        if self._recorder.world == 1 or case.trace is None:
            return ()
        read = {seen.key for op in case.trace.ops for seen in op.inputs if seen.maker is None}
        held = [tensor for _, _, tensor in variables(case.suspicion.frame) if storage_key(tensor) in read]
        for given in reversed(case.suspicion.beginning.handed):
            if isinstance(given.indices, (list, tuple)) and _was_read(given.batch, read, held):
                return tuple(int(i) for i in given.indices)
        return ()

    def _source(self, case: Case, findings: Findings) -> Source | None:
        if findings.entered is None or case.trace is None:
            return None
        return identify(
            findings.entered.key,
            roots=self._modules.roots(),
            handed=case.suspicion.beginning.handed,
            frame=case.suspicion.frame or sys._getframe(1),
            like=case.trace.outsiders.get(findings.entered.key),
        )

    def _births(self, case: Case, source: Source | None) -> list[Birth]:
        """Which line made a bad sample; a process alone is run a second time for that, which sees more."""
        if self._recorder.world == 1 or source is None or source.sample is None:
            return []
        return births_of_sample(case.suspicion.beginning.handed, source)

    def _growth(self, enlarging: str) -> tuple[Growth, ...]:
        """The parameters whose norm grew most over the steps kept, and the one that enlarged values most."""
        norms = self._guard.norms
        rows = [row for row in norms if row and len(row) == len(norms[-1])]
        if len(rows) < 2:
            return ()
        names = self._guard.parameter_names()
        series = [
            (names[i] if i < len(names) else f"parameter {i}", [row[i] for row in rows]) for i in range(len(rows[0]))
        ]
        grown = sorted(series, key=lambda s: s[1][-1] / (s[1][0] + 1e-12), reverse=True)
        told = grown[:3] + [one for one in grown[3:] if one[0] == enlarging]
        return tuple(Growth(name=name, values=tuple(values)) for name, values in told)


def bad_learning_rate(optimizer: Any) -> str | None:
    """The text of a learning rate that is no real, finite number."""
    for group in optimizer.param_groups:
        rate = group.get("lr")
        if isinstance(rate, complex) or (isinstance(rate, (int, float)) and not math.isfinite(rate)):
            return str(rate)
    return None


def _was_read(batch: Any, keys: set[int], held: list[torch.Tensor]) -> bool:
    """Whether a step has read a batch, or a copy of it on another device that a variable holds."""
    tensors = sorted((tensor for _, tensor in tensors_in(batch, "batch")), key=lambda tensor: -tensor.numel())
    if any(storage_key(tensor) in keys for tensor in tensors):
        return True
    return bool(tensors) and any(_is_copy(tensors[0], other) for other in held)


def _is_copy(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.allclose(one.detach().cpu(), other.detach().cpu(), rtol=0, atol=0, equal_nan=True)


def _learning_rate(optimizer: Any) -> float | None:
    value = optimizer.param_groups[0].get("lr") if optimizer is not None and optimizer.param_groups else None
    return float(value) if value is not None and math.isfinite(float(value)) else None
