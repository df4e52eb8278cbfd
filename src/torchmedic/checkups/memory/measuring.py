"""The same report from a true card: peaks of each phase as torch counts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from torchmedic.facts.memory_plan import LostTrack, MemoryPlan

_STEPS = 3


class Measuring:
    """Reads torch's own counters at the borders of the phases."""

    def __init__(self, enough: Callable[[], None]) -> None:
        self.steps = 0
        self._enough = enough
        self._phase = "setup"
        self._peaks: dict[str, int] = {}
        self._step_peaks: list[int] = []
        self._reserved = 0
        self._held: dict[str, int] = {}
        self._peak = (0, "setup", 1)

    def begin(self) -> None:
        modules.register_module_forward_pre_hook(self._forward)
        optimizers.register_optimizer_step_pre_hook(self._before_step)
        optimizers.register_optimizer_step_post_hook(self._after_step)
        engine = torch.autograd.graph._engine_run_backward

        def run(*args: Any, **kwargs: Any) -> Any:
            self._turn("backward")
            return engine(*args, **kwargs)

        torch.autograd.graph._engine_run_backward = run
        torch.autograd._engine_run_backward = run  # type: ignore[attr-defined]

    def plan(self, began: float, lost: LostTrack | None) -> MemoryPlan:
        """What was measured; activations and temporaries are what is left beside the rest."""
        self._turn(self._phase)
        peak, phase, step = self._peak
        rest = max(0, peak - sum(self._held.values()))
        categories = {**self._held, "activations and temporaries": rest}
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
            by_category=dict(sorted(categories.items(), key=lambda item: -item[1])),
            phase_peaks=dict(self._peaks),
            step_peaks=tuple(self._step_peaks),
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

    def _forward(self, _module: Any, _inputs: Any) -> None:
        if self._phase != "forward" and torch.is_grad_enabled() and torch._C._current_autograd_node() is None:
            self._turn("forward")

    def _before_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        self._turn("optimizer")
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._held["parameters"] = sum(_bytes(p) for p in parameters)
        self._held["gradients"] = sum(_bytes(p.grad) for p in parameters)

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        state = [item for states in optimizer.state.values() for item in states.values()]
        self._held["optimizer state"] = sum(_bytes(item) for item in state)
        self.steps += 1
        self._turn("data")
        self._step_peaks.append(self._peak[0])
        if self.steps >= _STEPS:
            self._enough()


def _bytes(tensor: Any) -> int:
    held = isinstance(tensor, torch.Tensor) and tensor.is_cuda
    return tensor.numel() * tensor.element_size() if held else 0
