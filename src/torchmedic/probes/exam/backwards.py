"""The exam of updates that have nothing to apply: an optimizer steps, and no gradient was ever computed."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from torchmedic.facts import Location, NeverBackward
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, location, user_location
from torchmedic.record import Probe, Recorder

_LEAST_STEPS = 5


class BackwardExam(Probe):
    """Counts steps until the first gradient is seen; then there is nothing left to watch."""

    name = "backward-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._has_gradients = False
        self._steps = 0
        self._stepped: Location | None = None
        self._built: Location | None = None
        self._kind = ""

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self._be_content()

    def on_gradient_of(self, inputs: tuple[Any, ...]) -> None:
        self._be_content()

    def on_step_done(self, optimizer: Any) -> None:
        if self._has_gradients or self.recorder.clock_is_held:
            return
        if any(p.grad is not None for group in optimizer.param_groups for p in group["params"]):
            self._be_content()
            return
        self._steps += 1
        if self._steps == 1:
            self._kind, self._built = type(optimizer).__name__, self._optimizers.built_at(optimizer)
            self._stepped = user_location()

    def on_finish(self) -> None:
        if self._has_gradients or self._steps < _LEAST_STEPS:
            return
        hook, returns = self._training_step()
        self.recorder.observe(
            NeverBackward(
                step=self.recorder.step,
                optimizer=self._kind,
                steps=self._steps,
                built=self._built,
                stepped=self._stepped,
                training_step=hook,
                returns_value=returns,
            )
        )

    def _be_content(self) -> None:
        self._has_gradients = True
        self.recorder.rest(self)

    def _training_step(self) -> tuple[Location | None, bool]:
        """The user's function that hands a framework the loss, and whether it returns anything."""
        for module in self._modules.roots():
            code = getattr(inspect.unwrap(getattr(type(module), "training_step", None) or len), "__code__", None)
            if code is not None and is_user_file(code.co_filename):
                place = location(code.co_filename, code.co_firstlineno, code.co_qualname)
                return place, _returns_value(code.co_filename, code.co_firstlineno)
        return None, False


def _returns_value(file: str, line: int) -> bool:
    tree = parsed(file)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)] if tree is not None else []
    written = next((f for f in functions if line in (f.lineno, *(d.lineno for d in f.decorator_list))), None)
    return written is None or any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(written))
