"""The same report from a true card: torch's own counters and the history that it keeps of its memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.nn.parameter import is_lazy
from torch.optim import optimizer as optimizers

from torchmedic.checkups.memory.course import course_of
from torchmedic.checkups.memory.following import after_closure
from torchmedic.checkups.memory.history import History, Label, Mark
from torchmedic.checkups.memory.names import ModuleNames
from torchmedic.checkups.memory.summing import shares_of
from torchmedic.facts.memory_plan import LostTrack, MemoryPlan

_STEPS = 3


class Measuring:
    """Reads the counters at the borders of the phases, and notes what the script is doing when."""

    def __init__(self, enough: Callable[[], None]) -> None:
        self.steps = 0
        self._enough = enough
        self._phase = "setup"
        self._peaks: dict[str, int] = {}
        self._step_peaks: list[int] = []
        self._reserved = 0
        self._peak = (0, "setup", 1)
        self._marks: list[Mark] = []
        self._modules: list[str] = []
        self._names = ModuleNames()

    def begin(self) -> None:
        # Not before the script itself wakes the card: it may still choose which.
        torch.cuda._lazy_call(_keep_history)  # type: ignore[no-untyped-call]
        self._names.watch()
        modules.register_module_forward_pre_hook(self._enter)
        modules.register_module_forward_hook(self._leave, always_call=True)
        optimizers.register_optimizer_step_pre_hook(self._before_step)
        optimizers.register_optimizer_step_post_hook(self._after_step)
        engine = torch.autograd.graph._engine_run_backward

        def run(*args: Any, **kwargs: Any) -> Any:
            self._turn("backward")
            return engine(*args, **kwargs)

        torch.autograd.graph._engine_run_backward = run
        torch.autograd._engine_run_backward = run  # type: ignore[attr-defined]

    def plan(self, began: float, lost: LostTrack | None) -> MemoryPlan:
        """What was measured."""
        self._turn(self._phase)
        peak, phase, step = self._peak
        history = History(_events(), self._marks)
        piece = history.peak_piece
        free, total = torch.cuda.mem_get_info()
        return MemoryPlan(
            mode="real",
            card=torch.cuda.get_device_name(),
            steps=self.steps,
            peak_allocated=peak,
            peak_reserved=self._reserved,
            peak_requested=peak,
            context=max(0, total - free - torch.cuda.memory_reserved()),
            phase=phase,
            peak_step=step,
            where=piece.where if piece else None,
            module=piece.module if piece else "",
            **shares_of(history.held_at_peak()),
            phase_peaks=dict(self._peaks),
            step_peaks=tuple(self._step_peaks),
            course=course_of(history.log, step - 1),
            lost=lost,
            seconds=time.monotonic() - began,
            torch=str(torch.__version__),
        )

    def _turn(self, phase: str) -> None:
        """Another phase begins: read the peak of the one that ends."""
        peak = torch.cuda.max_memory_allocated()
        self._reserved = max(self._reserved, torch.cuda.max_memory_reserved())
        self._peaks[self._phase] = max(self._peaks.get(self._phase, 0), peak)
        if peak > self._peak[0]:
            self._peak = (peak, self._phase, self.steps + 1)
        torch.cuda.reset_peak_memory_stats()
        self._phase = phase
        self._note()

    def _note(self, labels: dict[int, Label] | None = None) -> None:
        module = self._modules[-1] if self._modules else ""
        self._marks.append(Mark(time.time_ns() // 1000, self._phase, self.steps, module, labels or {}))

    def _enter(self, module: torch.nn.Module, _inputs: Any) -> None:
        if torch._C._current_autograd_node() is not None:
            return
        if not self._modules:
            self._begin_forward(module)
        self._modules.append(self._names.of(module))
        self._note()

    def _leave(self, _module: torch.nn.Module, _inputs: Any, _output: Any) -> None:
        if self._modules and torch._C._current_autograd_node() is None:
            self._modules.pop()
            self._note()

    def _begin_forward(self, root: torch.nn.Module) -> None:
        self._names.learn(root)
        if self._phase != "forward" and torch.is_grad_enabled():
            self._turn("forward")
        self._note(_labels("parameters", (*root.parameters(), *root.buffers())))

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        self._begin_update(optimizer)
        return after_closure(args, kwargs, lambda: self._begin_update(optimizer))

    def _begin_update(self, optimizer: Any) -> None:
        self._turn("optimizer")
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [p.grad for p in parameters]
        self._note(_labels("parameters", parameters) | _labels("gradients", gradients))

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        states = [state for state in optimizer.state.values() if isinstance(state, dict)]
        self._note(_labels("optimizer state", (item for state in states for item in state.values())))
        self.steps += 1
        self._turn("data")
        self._step_peaks.append(self._peak[0])
        if self.steps >= _STEPS:
            self._enough()


def _keep_history() -> None:
    torch.cuda.memory._record_memory_history("all", context="alloc", stacks="python")


def _events() -> list[dict[str, Any]]:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return []
    traces: list[list[dict[str, Any]]] = torch.cuda.memory._snapshot()["device_traces"]
    return traces[torch.cuda.current_device()]


def _labels(category: str, tensors: Iterable[Any]) -> dict[int, Label]:
    """Addresses of the pieces that these tensors begin."""
    return {
        tensor.untyped_storage().data_ptr(): Label(
            category, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        )
        for tensor in tensors
        if isinstance(tensor, torch.Tensor)
        and tensor.is_cuda
        and tensor.layout is torch.strided
        and not is_lazy(tensor)
    }
