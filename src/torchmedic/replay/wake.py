"""The last way to see a sick step again: the whole script runs a second time, and the microscope wakes at the step."""

from __future__ import annotations

import os
from typing import Any

from torchmedic.probes.trace import Trace
from torchmedic.record import Recorder
from torchmedic.replay.case import Case
from torchmedic.replay.doctor import Doctor
from torchmedic.replay.microscope import investigate, microscope

WAY = "the script was run again from the start"


class Wake(Doctor):
    """Looks at everything from the end of the step before the sick one, until something bad is made."""

    name = "wake"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._trace: Trace | None = None

    def on_forward(self, module: Any) -> None:
        if self._trace is None and (self.recorder.settings.until_step or 1) <= 1:
            self._open_eyes()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return None

    def on_step_done(self, optimizer: Any) -> None:
        wanted = (self.recorder.settings.until_step or 1) - 1
        if self._trace is None and self.recorder.step >= wanted:
            self._open_eyes()
        self.guard.on_step_done(optimizer)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self.guard.on_backward_done(roots)
        if self._trace is not None and self.guard.looks_bad(roots):
            seeds = [index for index in (self._trace.maker_of(root) for root in roots) if index is not None]
            self._conclude(self._trace, seeds)

    def on_crash(self, error: BaseException) -> None:
        self._conclude_from_the_end()

    def on_finish(self) -> None:
        self._conclude_from_the_end()

    def _open_eyes(self) -> None:
        self._trace = microscope()
        self._trace.name_modules(self._modules.roots())
        self._trace.__enter__()

    def _conclude_from_the_end(self) -> None:
        """The script stopped by itself: begin at the last bad thing that was made."""
        if self._trace is not None:
            bad = [op.index for op in self._trace.ops if op.makes_bad and op.phase == "forward"]
            self._conclude(self._trace, bad[-1:])

    def _conclude(self, trace: Trace, seeds: list[int]) -> None:
        trace.__exit__(None, None, None)
        bad_ops = [op.index for op in trace.ops if op.makes_bad]
        suspicion = self.guard.suspect_now("loss")
        case = Case(suspicion.step, suspicion, None, self.guard, self._modules.roots())
        case.trace = trace
        case.findings = investigate(trace, seeds) or investigate(trace, bad_ops[-1:])
        case.is_reproduced = case.findings is not None
        if case.is_reproduced:
            self.report.write(case, WAY, 0.0, None)
        self.recorder.flush()
        os._exit(0)
