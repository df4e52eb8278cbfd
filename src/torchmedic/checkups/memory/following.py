"""Follows a training through its phases: data, forward, backward, optimizer; and knows when it has seen enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from torchmedic.checkups.memory.cures import Cure
from torchmedic.checkups.memory.names import ModuleNames
from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.pretending import Pretence

_STEPS = 2
_MOST_STEPS = 40
_MOST_SECONDS = 5.0
_LONG_SECONDS = 8.0  # of the whole process: what is left of ten goes for its start and its end
_SAME = 0.001
_PASSES = 3


def after_closure(args: Any, kwargs: Any, act: Callable[[], None]) -> Any:
    """The arguments of an optimizer's step, with a closure that does `act` when it has computed the gradients."""
    closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)
    if not callable(closure):
        return None

    def wrapped(*given: Any, **named: Any) -> Any:
        loss = closure(*given, **named)
        act()
        return loss

    if kwargs.get("closure"):
        return args, {**kwargs, "closure": wrapped}
    return (args[0], wrapped, *args[2:]), kwargs


class Following:
    """Hooks on modules, optimizers and the engine; calls `enough` after the step that shows the peak."""

    def __init__(self, pretence: Pretence, enough: Callable[[], None], cure: Cure | None = None) -> None:
        self.pretence = pretence
        self.steps = 0
        self._enough = enough
        self._cure = cure or Cure()
        self._names = ModuleNames()
        self._counts: dict[int, int] = {}
        self._made: list[int] = []
        self._first_step_at = 0.0
        self._passes: list[int] = []
        self._patches = Patches()
        self._hooks: list[Any] = []

    def begin(self) -> None:
        self._cure.begin(self._patches)
        self._hooks = [
            self._names.watch(),
            modules.register_module_forward_pre_hook(self._enter),
            modules.register_module_forward_hook(self._leave, always_call=True),
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        engine = torch.autograd.graph._engine_run_backward

        def run(*args: Any, **kwargs: Any) -> Any:
            self._before_backward()
            return engine(*args, **kwargs)

        self._patches.put(torch.autograd.graph, "_engine_run_backward", run)
        self._patches.put(torch.autograd, "_engine_run_backward", run)

    def end(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._patches.undo()

    # -- modules ---------------------------------------------------------------------------------------------------

    def _enter(self, module: torch.nn.Module, _inputs: Any) -> None:
        world = self.pretence.world
        if not world.modules and not self.pretence.backward.running:
            self._begin_forward(module)
        world.modules.append(self._names.of(module))

    def _leave(self, _module: torch.nn.Module, _inputs: Any, _output: Any) -> None:
        if self.pretence.world.modules:
            self.pretence.world.modules.pop()

    def _begin_forward(self, root: torch.nn.Module) -> None:
        if torch.is_grad_enabled() and self._has_accumulated_enough():
            self.pretence.world.assume("steps of many passes take long to follow; left in the middle of the second")
            self._enough()
        self._names.learn(root)
        self._cure.before_forward(root)
        ledger = self.pretence.ledger
        for part in root.modules():
            for tensor in (*part._parameters.values(), *part._buffers.values()):
                ledger.mark(tensor, "parameters", self._names.of(part))
        if torch.is_grad_enabled():
            ledger.phase = "forward"
        elif ledger.phase != "forward":
            ledger.phase = "evaluation"

    # -- backward and optimizer ------------------------------------------------------------------------------------

    def _before_backward(self) -> None:
        ledger = self.pretence.ledger
        if not self.pretence.backward.running:
            self._cure.before_backward()
            ledger.mark_saved()
            ledger.phase = "backward"
            self._passes.append(ledger.made_in_step - sum(self._passes))

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        self._cure.before_step(optimizer)
        self._begin_update(optimizer)
        return after_closure(args, kwargs, lambda: self._begin_update(optimizer))

    def _begin_update(self, optimizer: Any) -> None:
        ledger = self.pretence.ledger
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                ledger.mark(parameter, "parameters")
                ledger.mark(parameter.grad, "gradients", ledger.module_of(parameter))
        ledger.phase = "optimizer"

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        ledger, world = self.pretence.ledger, self.pretence.world
        for parameter, state in optimizer.state.items():
            for item in state.values() if isinstance(state, dict) else ():
                ledger.mark(item, "optimizer state", ledger.module_of(parameter))
        ledger.phase = "data"
        world.origins.clear()
        first_of_round = not self._counts or self._counts.get(id(optimizer), 0) == max(self._counts.values())
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        if first_of_round:
            self._end_round()

    def _end_round(self) -> None:
        ledger = self.pretence.ledger
        self.steps += 1
        self._made.append(ledger.made_in_step)
        ledger.made_in_step = 0
        self._passes.clear()
        ledger.step = self.steps
        if self._seen_enough():
            self._enough()

    def _seen_enough(self) -> bool:
        """Two steps of equal size show everything; where batches differ, more are looked at for some seconds."""
        if self.steps == 1:
            self._first_step_at = time.process_time()
        if self.steps < _STEPS or any(count < _STEPS for count in self._counts.values()):
            return self.steps >= _MOST_STEPS
        if _is_same(self._made[-1], self._made[-2]):
            return True
        now = time.process_time()
        is_time_up = now > min(self._first_step_at + _MOST_SECONDS, _LONG_SECONDS) or self.steps >= _MOST_STEPS
        if is_time_up:
            self.pretence.world.assume("batches differ in size; a larger one than those followed would need more")
        return is_time_up

    def _has_accumulated_enough(self) -> bool:
        """Whether time is up, and the second step has shown a pass that met the gradients of one like it.

        What backward makes counts for the pass after it, so that three passes show two of equal size.
        """
        if not self.steps or len(self._passes) < _PASSES or time.process_time() < _LONG_SECONDS:
            return False
        return _is_same(self._passes[-1], self._passes[-2])


def _is_same(one: int, other: int) -> bool:
    return abs(one - other) <= _SAME * max(one, other, 1)
