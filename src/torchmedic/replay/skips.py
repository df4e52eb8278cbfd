"""Notices the steps that a script leaves out by itself, because their loss or gradients are not finite."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.facts import SickStep, SkippedUpdates
from torchmedic.facts.numerics import SKIPPED
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import LISTENS, is_compiled, may_put_on, take_off
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import is_user_file, location_of
from torchmedic.probes.source.loops import innermost_loop
from torchmedic.record import Probe, Recorder, shielded
from torchmedic.replay.doctor import Doctor
from torchmedic.replay.finite import bad_tensors, gradients_of

_LEAST = 5
_LEAST_SHARE = 0.25  # a batch that is left out now and then is what such a check is for
_BATCHES_IN_VAIN = 2
_ASKING = frozenset(
    ("isfinite", "isnan", "isinf", "item", "tolist", "__float__", "__bool__", "__ne__", "ne", "__eq__", "eq")
)
_BACKWARDS = ("backward", "manual_backward")


class Questions(TorchFunctionMode):
    """Hands on every single number that is not finite and that the script asks about ahead of a `backward`."""

    def __init__(self, tell: Callable[[torch.Tensor, FrameType], None]) -> None:
        super().__init__()
        self._tell = tell
        self._places: dict[tuple[CodeType, int], bool] = {}
        setattr(self, LISTENS, True)

    def put_on(self) -> None:
        torch._C._push_on_torch_function_stack(self)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _ASKING and args:
            self._look(args[0], sys._getframe(1))
        return func(*args, **(kwargs or {}))

    def _look(self, asked: Any, frame: FrameType) -> None:
        is_number = isinstance(asked, torch.Tensor) and asked.numel() == 1 and asked.is_floating_point()
        is_asked = is_number and is_user_file(frame.f_code.co_filename) and self._is_before_backward(frame)
        if is_asked and not math.isfinite(asked.detach().item()):
            self._tell(asked, frame)

    def _is_before_backward(self, frame: FrameType) -> bool:
        key = (frame.f_code, frame.f_lineno or 0)
        if key not in self._places:
            self._places[key] = _is_before_backward(frame)
        return self._places[key]


def _is_before_backward(frame: FrameType) -> bool:
    """Whether the loop that a line stands in, or else its function, calls `backward` further down."""
    tree, line = parsed(frame.f_code.co_filename), frame.f_lineno or 0
    if tree is None:
        return False
    loop = innermost_loop(frame.f_code, (line,))
    parts: list[ast.AST] = [enclosing_function(tree, frame)] if loop is None else list(loop.body)
    nodes = (node for part in parts for node in ast.walk(part))
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _BACKWARDS
        and node.lineno > line
        for node in nodes
    )


@late_dataclass()
class _First:
    """The first step that was left out."""

    step: int
    what: str
    loss: float | None


class Skips(Probe):
    """Counts steps whose gradients are cleared unused, or whose loss is asked about and gets no `backward`.

    A script that minds a bad step itself is not stopped: what it leaves out does no harm. It is told at the end where
    that was not the odd batch.
    """

    name = "skips"

    def __init__(self, doctor: Doctor) -> None:
        self._doctor = doctor

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._first: _First | None = None
        self._skipped = 0
        self._updates = 0
        self._backwards = 0
        self._where: Any = None
        self._in_vain = 0  # batches since the last backward
        self._asked: float | None = None
        self._questions: Questions | None = None

    def remove(self) -> None:
        self._stop()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if not torch.is_grad_enabled() or self.recorder.clock_is_held:
            return
        self._close()
        self._in_vain += 1
        if self._in_vain > _BATCHES_IN_VAIN and self._questions is None and may_put_on() and not is_compiled():
            self._questions = Questions(shielded(self)(self._hear))
            self._questions.put_on()

    def _hear(self, asked: torch.Tensor, frame: FrameType) -> None:
        self._asked = float(asked.detach().item())
        self._where = self._where or location_of(frame)

    def _close(self) -> None:
        """The batch before is over: was its loss bad, and left alone?"""
        asked, self._asked = self._asked, None
        if asked is not None:
            self._count("loss", asked)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self._in_vain = 0
        self._asked = None
        self._backwards += 1
        if self._questions is not None and not self._skipped:
            self._stop()

    def on_zero_grad(self, optimizer: Any) -> None:
        # Gradients that were made since the last update and are cleared now were never used.
        if self._backwards and not self._doctor.is_busy and bad_tensors(gradients_of(optimizer)):
            self._backwards = 0
            self._where = self._where or self.recorder.backward_at
            losses = self._doctor.guard.losses
            self._count("gradient", losses[-1] if losses else None)

    def on_step_done(self, optimizer: Any) -> None:
        self._backwards = 0
        self._updates += 1

    def _count(self, what: str, loss: float | None) -> None:
        self._skipped += 1
        if self._first is None:
            self._first = _First(step=self.recorder.step + 1, what=what, loss=loss)

    def _stop(self) -> None:
        if self._questions is not None:
            take_off(self._questions)
            self._questions = None

    def on_finish(self) -> None:
        self._stop()
        self._close()
        first, share = self._first, self._skipped / max(self._skipped + self._updates, 1)
        if first is None or self._doctor.is_busy or self._skipped < _LEAST or share < _LEAST_SHARE:
            return
        self.recorder.observe(
            SkippedUpdates(step=first.step, what=first.what, skipped=self._skipped, updates=self._updates)
        )
        self.recorder.observe(SickStep(step=first.step, what=first.what, loss=first.loss, way=SKIPPED))
