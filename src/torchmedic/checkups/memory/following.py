"""Follows a training through its phases: data, forward, backward, optimizer; and knows when it has seen enough."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from torchmedic.checkups.memory.afterwards import Afterwards
from torchmedic.checkups.memory.cures import Cure
from torchmedic.checkups.memory.hoarding import Hoard
from torchmedic.checkups.memory.names import ModuleNames
from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.pretending import Pretence
from torchmedic.checkups.memory.waiting import Waiting
from torchmedic.facts import Location
from torchmedic.facts.memory_plan import Hoarded

_STEPS = 2
_MOST_STEPS = 40
_LOOKING = 5.0
_LONG_SECONDS = 8.0  # of the whole process: what is left of ten goes for its start and its end
_MANY_SECONDS = 4.0
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
    """Hooks on modules, optimizers and the engine; goes on to what comes `afterwards` behind the step with the peak."""

    def __init__(
        self, pretence: Pretence, leave: Callable[[], None], cure: Cure | None = None, *, looking: float = _LOOKING
    ) -> None:
        self.pretence = pretence
        self.steps = 0
        self.afterwards = Afterwards(leave, pretence.ledger)
        self._hoard = Hoard(pretence.ledger)
        self._enough = self.afterwards.begin
        self._cure = cure or Cure()
        self._names = ModuleNames()
        self._counts: dict[int, int] = {}
        self._waiting = Waiting()
        self._made: list[int] = []
        self._ends: list[tuple[int, int]] = []  # the first and the last pass of each round
        self._first_step_at = 0.0
        self._looking = looking
        self._passes: list[int] = []
        self._backwards = self._backwards_before = 0  # of this pass, and of the one before
        self._in_step = False
        self._updated_early = self._was_early = False
        self._is_cut = False
        self._patches = Patches()
        self._hooks: list[Any] = []

    def begin(self) -> None:
        self._cure.begin(self._patches)
        self._waiting.watch(self._patches)
        self._hooks = [
            self._names.watch(),
            modules.register_module_forward_pre_hook(self._enter),
            modules.register_module_forward_hook(self._leave, always_call=True),
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        engine = torch.autograd.graph._engine_run_backward

        def run(*args: Any, **kwargs: Any) -> Any:
            self._before_backward(accumulates=bool(kwargs.get("accumulate_grad")), creates_graph=bool(args[3]))
            return engine(*args, **kwargs)

        self._patches.put(torch.autograd.graph, "_engine_run_backward", run)
        self._patches.put(torch.autograd, "_engine_run_backward", run)
        whole = torch.autograd.backward

        def backward(*args: Any, **kwargs: Any) -> None:
            is_inside = self.pretence.backward.running
            whole(*args, **kwargs)
            if not is_inside:
                self._after_backward(retains_graph=any(args[2:4]) or bool(kwargs.get("retain_graph")))

        self._patches.put(torch.autograd, "backward", backward)
        evaluate = torch.nn.Module.eval

        def into_evaluation(module: torch.nn.Module) -> torch.nn.Module:
            self.afterwards.note_evaluation()
            return evaluate(module)

        self._patches.put(torch.nn.Module, "eval", into_evaluation)

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
        self.afterwards.note_forward()
        if torch.is_grad_enabled() and not self.afterwards.beyond:
            self._begin_pass()
        self._names.learn(root)
        self._cure.before_forward(root)
        ledger = self.pretence.ledger
        for part in root.modules():
            for tensor in (*part._parameters.values(), *part._buffers.values()):
                ledger.mark(tensor, "parameters", self._names.of(part))
        if torch.is_grad_enabled() and not self.afterwards.beyond:
            ledger.phase = "forward"
        elif ledger.phase != "forward":
            ledger.phase = "evaluation"

    # -- backward and optimizer ------------------------------------------------------------------------------------

    def _before_backward(self, *, accumulates: bool, creates_graph: bool) -> None:
        ledger = self.pretence.ledger
        if not self.pretence.backward.running:
            self.afterwards.note_backward()
            self._cure.before_backward()
            ledger.mark_saved()
            # What is to be differentiated again is kept as what the forward pass makes is.
            ledger.phase = "forward" if creates_graph else "backward"
            if accumulates:
                self._passes.append(ledger.made_in_step - sum(self._passes))

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        self._cure.before_step(optimizer)
        self._in_step = True
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
        self._in_step = False
        world.origins.clear()
        first_of_round = not self._counts or self._counts.get(id(optimizer), 0) == max(self._counts.values())
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        if first_of_round:
            self._end_round()

    def _end_round(self) -> None:
        ledger = self.pretence.ledger
        self.steps += 1
        if not self.afterwards.begun:
            self._hoard.weigh()
        self._made.append(ledger.made_in_step)
        self._ends.append((self._passes[0], self._passes[-1]) if self._passes else (0, 0))
        self._updated_early = False
        ledger.made_in_step = 0
        self._passes.clear()
        ledger.step = self.steps
        if self.afterwards.begun or self._seen_enough():
            self._is_cut = True
            self._enough()

    def _seen_enough(self) -> bool:
        """Two steps of equal size of every optimizer show everything; else more are looked at for some seconds."""
        if self.steps == 1:
            self._first_step_at = time.process_time()
        if self.steps < _STEPS or any(count < _STEPS for count in self._counts.values()):
            return self.steps >= _MOST_STEPS
        missing = self._waiting.for_some(self._counts)
        is_same = _is_same(self._made[-1], self._made[-2])
        if self._was_early:  # of rounds that were cut short, only passes can be compared
            is_same = any(_is_same(*pair) for pair in zip(*self._ends[-2:], strict=True))
        may_grow = self._hoard.grew and not self._hoard.is_sure
        if is_same and not missing and not may_grow:
            return True
        now = time.process_time()
        is_time_up = now > min(self._first_step_at + self._looking, _LONG_SECONDS) or self.steps >= _MOST_STEPS
        if is_time_up:
            self._say_what_is_open(missing, is_same=is_same)
        return is_time_up

    def _say_what_is_open(self, missing: list[Location | None], *, is_same: bool) -> None:
        world = self.pretence.world
        for where in missing:
            world.assume(f"its optimizer did not step in {self.steps} steps of others, which may need more", where)
        if not is_same:
            world.assume("batches differ in size; a larger one than those followed would need more")

    def hoarded(self) -> tuple[Hoarded, ...]:
        """What grows with the steps and batches that were not followed."""
        in_steps = self._hoard.found("step") if self._is_cut else None
        return (*([in_steps] if in_steps else ()), *self.afterwards.hoarded())

    # -- steps of many passes --------------------------------------------------------------------------------------

    def _begin_pass(self) -> None:
        """Where gradients are summed over many equal passes, some of them in the second step show the peak."""
        if self.pretence.ledger.phase != "backward":
            return
        self._backwards, self._backwards_before = 0, self._backwards
        if self._updated_early and self._passes:
            self._enough()
        elif self.steps and self._passes_are_alike() and time.process_time() >= _LONG_SECONDS:
            self.pretence.world.assume("steps of many passes take long to follow; left in the middle of the second")
            self._enough()

    def _after_backward(self, *, retains_graph: bool) -> None:
        """An update in the middle of the first step: what comes then holds what any later pass does.

        That is gradients and the optimizer's state. It has to be at the end of a pass, with no graph left.
        """
        self._backwards += 1
        is_end = self._backwards == self._backwards_before and not retains_graph and not self._in_step
        if is_end and not self.steps and self._passes_are_alike() and time.process_time() >= _MANY_SECONDS:
            self._update_early()

    def _passes_are_alike(self) -> bool:
        """What backward makes counts for the pass after it, so that three passes show two of equal size."""
        each = self._backwards_before or 1
        return len(self._passes) >= _PASSES * each and _is_same(self._passes[-1], self._passes[-1 - each])

    def _update_early(self) -> None:
        found = _optimizers()
        if len(found) != 1 or all(p.grad is None for group in found[0].param_groups for p in group["params"]):
            return
        passes = len(self._passes) // self._backwards
        try:
            found[0].step()
        except Exception:  # noqa: BLE001 - one that needs more than it gets here is left to the script
            self._in_step = False
            return
        self._updated_early = self._was_early = True
        self.pretence.world.assume(
            f"steps of many passes take long to follow; the update was made after {passes} of them"
        )


def _optimizers() -> list[Any]:
    """The optimizers of the process, but for those that stand for another one."""
    kind = torch.optim.Optimizer
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]
    return [one for one in found if not isinstance(getattr(one, "optimizer", None), kind)]


def _is_same(one: int, other: int) -> bool:
    return abs(one - other) <= _SAME * max(one, other, 1)
