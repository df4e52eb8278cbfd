"""A sick step under investigation: run again by its own loop, once per question, until the answers are in."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.late import late_dataclass
from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.events.modes import take_off
from torchmedic.probes.source.loops import Loop, jump_to, tops_of
from torchmedic.replay.beginnings import Handed
from torchmedic.replay.company import Company
from torchmedic.replay.guard import Guard, Suspicion
from torchmedic.replay.loops import forward_line, write_names
from torchmedic.replay.muting import Mute


@late_dataclass()
class Pass:
    """One more run of the step: what is switched on during it, and who hears how it went."""

    mode: Any
    done: Callable[[Outcome], None]
    names: dict[str, Any] = field(default_factory=dict)
    random: int = 0
    is_last: bool = False


@late_dataclass(frozen=True)
class Outcome:
    """How a pass ended: the loss, whether anything was non-finite, and the tensors `backward` began from."""

    loss: float | None
    is_sick: bool
    roots: tuple[Any, ...]


class Session:
    """Plays passes one after another by jumping to the top of the loop's body, or by calling a closure."""

    def __init__(
        self, suspicion: Suspicion, guard: Guard, over: Callable[[str], None], company: Company | None = None
    ) -> None:
        self._company = company or Company()
        self._was_sick_here = False
        self._suspicion = suspicion
        self._guard = guard
        self._over = over
        self._waiting: list[Pass] = []
        self._running: Pass | None = None
        self._mute = Mute()
        self._eager = contextlib.ExitStack()
        self.left_on: list[Any] = []
        self._to_hand_out: list[Handed] = []
        self.started = time.perf_counter()
        self.last: Pass | None = None
        self.idle: Callable[[Outcome], None] = lambda _: None
        self.is_by_closure = False

    @property
    def way(self) -> str:
        return "the optimizer's closure was called again" if self.is_by_closure else "the loop's own body was run again"

    def ask(self, question: Pass) -> None:
        self._waiting.append(question)

    @property
    def is_running(self) -> bool:
        """Whether a pass has begun and not yet reached the end of its backward."""
        return self._running is not None

    def next_by_jump(self) -> None:
        """Arrange the next pass, or end the session."""
        if not self._goes_on():
            self._over("")
            return
        frame, loop = self._suspicion.frame, self._suspicion.loop
        if frame is None or loop is None:
            self._over("no loop in sight")
            return
        if self._suspicion.lost:
            self._over(f"`{self._suspicion.lost[0]}` comes from the loop and is bound anew in its body")
            return
        jump_to(self._entry(frame, loop), frame, tops_of(loop, frame.f_lineno or 0), self._begin, self._over)

    def _entry(self, frame: FrameType, loop: Loop) -> int:
        """The top of the body; on a second try the first call of a module, with the batch as it was drawn."""
        later = forward_line(frame, loop) if self._waiting[0].random else None
        return later or loop.first

    def all_by_closure(self, closure: Callable[[], Any]) -> None:
        """Answer every question by calling the step's closure again."""
        self.is_by_closure = True
        while self._goes_on():
            self._begin()
            try:
                closure()
            except Exception as error:  # noqa: BLE001 - the user's code failing in a trial is an answer too
                self._stop_running()
                self._over(f"{type(error).__name__} in the replay: {error}")
                return
            if self._running is not None:
                self.end_pass(())
            self._take_off()
        self._over("")

    def batch_again(self) -> Handed | None:
        """The next batch of the step, for a body that fetches by itself; None when it has had them all."""
        return self._to_hand_out.pop(0) if self._running is not None and self._to_hand_out else None

    def _goes_on(self) -> bool:
        """Whether there is another pass: for a question of any rank, then the one that leaves the world as it was."""
        if self._company.any(bool(self._waiting)):
            if not self._waiting:
                self._waiting.append(Pass(mode=None, done=self.idle))
        elif self.last is not None:
            self._waiting.append(self.last)
            self.last = None
        return bool(self._waiting)

    def _begin(self) -> None:
        """Put the world back to the start of the step and switch the pass on."""
        self._take_off()
        question = self._waiting.pop(0)
        beginning = self._suspicion.beginning
        candidates = beginning.candidates()
        candidates[min(question.random, len(candidates) - 1)].restore()
        self._suspicion.buffers.restore()
        self._clear_gradients()
        if self._suspicion.frame is not None:
            drawn = self._suspicion.drawn if question.random else {}
            write_names(self._suspicion.frame, drawn | self._suspicion.names | question.names)
        self._mute.start()
        self._to_hand_out = list(beginning.fetched)
        self._running = question
        self._was_sick_here = False
        self._eager.enter_context(_eager())
        if not question.is_last:
            self._eager.enter_context(self._company.local_gradients())
        if question.mode is not None:
            question.mode.__enter__()

    def note(self, roots: tuple[Any, ...]) -> None:
        """In company a backward of a pass is judged by itself, while the pass goes on to the update as on all ranks."""
        self._was_sick_here = self._was_sick_here or self._guard.looks_bad(roots)

    def end_pass(self, roots: tuple[Any, ...]) -> None:
        """The pass has reached the end of its backward: judge it."""
        question = self._running
        assert question is not None
        self._stop_running()
        loss = scalar(roots[0], wait=True) if len(roots) == 1 else None
        bad_loss = loss is not None and not math.isfinite(loss)
        # Between backward and update a script may exchange gradients by hand: then only the former tells.
        is_sick = self._was_sick_here if not self._company.is_alone else bad_loss or self._is_still_sick()
        outcome = Outcome(loss=loss, is_sick=is_sick, roots=roots)
        question.done(outcome)

    def _is_still_sick(self) -> bool:
        """Under a scaler, scaled gradients may overflow in good health: there a bad loss alone is the sickness."""
        if self._suspicion.what == "buffer" and self._guard.spoiled_buffers():
            return True
        by_loss_alone = self._suspicion.what == "scaler" and not math.isfinite(self._suspicion.loss or 0.0)
        return not by_loss_alone and self._guard.bad_gradients()

    def _stop_running(self) -> None:
        question, self._running = self._running, None
        if question is not None and isinstance(question.mode, TorchFunctionMode):
            # `Tensor.backward` is itself a torch function: its mode cannot be taken off from inside it.
            question.mode.is_live = False  # type: ignore[attr-defined]
            self.left_on.append(question.mode)
        elif question is not None and question.mode is not None:
            question.mode.__exit__(None, None, None)
        self._eager.close()

    def _take_off(self) -> None:
        self.left_on = [mode for mode in self.left_on if not take_off(mode)]

    def abandon(self) -> None:
        """Leave nothing switched on but what is in the middle of a call; that is in `left_on`."""
        self._stop_running()
        self._take_off()
        self._mute.stop()

    def _clear_gradients(self) -> None:
        for parameter in self._guard.parameters().values():
            parameter.grad = None


@contextlib.contextmanager
def _eager() -> Any:
    """Compiled code runs eagerly while a step is looked at."""
    if "torch._dynamo" in sys.modules:
        with torch.compiler.set_stance("force_eager"):
            yield
    else:
        yield
