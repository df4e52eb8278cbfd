"""The last way to see a sick step again: the whole script runs a second time, and the microscope wakes at the step."""

from __future__ import annotations

import math
import os
from types import FrameType
from typing import Any

import torch

from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.graph.trace import Trace
from torchmedic.record import Recorder, shielded
from torchmedic.replay.case import Case
from torchmedic.replay.doctor import Doctor
from torchmedic.replay.guard import Suspicion
from torchmedic.replay.microscope import Findings, investigate, microscope
from torchmedic.replay.skips import Questions

WAY = "the script was run again from the start"


class Wake(Doctor):
    """Looks at everything from the end of the step before the sick one, until something bad is made.

    Where that step's own update is suspected, the looking begins right after its backward.
    """

    name = "wake"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._trace: Trace | None = None
        self._in_torch: list[range] = []
        self._began = 0
        self._questions: Questions | None = None

    def on_forward(self, module: Any) -> None:
        if self._trace is None and self._is_due_at_step(1):
            self._open_eyes()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._began = self._ops_seen()

    def on_step_done(self, optimizer: Any) -> None:
        if type(optimizer).__module__.startswith("torch."):
            self._in_torch.append(range(self._began, self._ops_seen()))
        if self._trace is None and self._is_due_at_step(self.recorder.step + 1):
            self._open_eyes()
        self.guard.on_step_done(optimizer)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self.guard.on_backward_done(roots)
        if self._trace is None and self.recorder.backwards == self.recorder.settings.until_backward:
            self._open_eyes()
        elif self._trace is not None and self.guard.looks_bad(roots):
            seeds = [index for index in (self._trace.maker_of(root) for root in roots) if index is not None]
            loss = scalar(roots[0], wait=True) if len(roots) == 1 else None
            is_gradient = self._is_skipped and loss is not None and math.isfinite(loss)
            self._conclude(self._trace, seeds, "gradient" if is_gradient else "loss")

    def _on_question(self, asked: torch.Tensor, frame: FrameType) -> None:
        """The script finds out for itself that its loss is bad, and will leave the step out."""
        maker = self._trace.maker_of(asked) if self._trace is not None else None
        if self._trace is not None and maker is not None:
            self._conclude(self._trace, [maker])

    def on_crash(self, error: BaseException) -> None:
        self._conclude_from_the_end()

    def on_finish(self) -> None:
        self._conclude_from_the_end()

    def _is_due_at_step(self, step: int) -> bool:
        settings = self.recorder.settings
        return settings.until_backward is None and step >= (settings.until_step or 1)

    @property
    def _is_skipped(self) -> bool:
        """Whether the script leaves the step out by itself."""
        return bool(self.recorder.settings.trial)

    def _ops_seen(self) -> int:
        return len(self._trace.ops) if self._trace is not None else 0

    def _open_eyes(self) -> None:
        self._trace = microscope()
        self._trace.name_modules(self._modules.roots())
        self._trace.__enter__()
        if self._is_skipped:
            self._questions = Questions(shielded(self)(self._on_question))
            self._questions.put_on()

    def _conclude_from_the_end(self) -> None:
        """The script stopped by itself: begin at the last bad thing that was made."""
        if self._trace is not None:
            bad = [op.index for op in self._trace.ops if op.makes_bad and op.phase == "forward"]
            self._conclude(self._trace, bad[-1:])

    def _conclude(self, trace: Trace, seeds: list[int], what: str = "loss") -> None:
        trace.__exit__(None, None, None)
        bad_ops = [op.index for op in trace.ops if op.makes_bad]
        suspicion = self._suspicion(what)
        case = Case(suspicion.step, suspicion, None, self.guard, self._modules.roots())
        case.trace = trace
        case.findings = investigate(trace, seeds) or investigate(trace, bad_ops[-1:])
        case.is_reproduced = case.findings is not None and not self._is_torchs_own(case.findings)
        if suspicion.what == "update":
            case.bad_parameters = self.guard.bad_parameter_names(of_weights=True)
        if case.is_reproduced:
            self.report.write(case, WAY, 0.0, None, is_saved=False)
        self.recorder.flush()
        os._exit(0)

    def _suspicion(self, what: str) -> Suspicion:
        """Of this step; of the one before, where its update is what is looked at."""
        if self.recorder.settings.until_backward is None:
            return self.guard.suspect_now(what)
        suspicion = self.guard.suspect_now("update")
        suspicion.step -= 1
        return suspicion

    def _is_torchs_own(self, findings: Findings) -> bool:
        """An operation inside `step` of torch's optimizers: no line of it is the user's to edit."""
        return any(findings.origin.index in update for update in self._in_torch)
