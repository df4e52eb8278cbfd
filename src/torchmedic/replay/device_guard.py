"""The guard on an accelerator: the question is asked on the device, the answer is read a step late, nothing waits.

Three ways, because none wins everywhere (bench/results.md): fused optimizers obey a flag on the device and freeze by
themselves; others get a shadow of their state, copied before each update; where steps are so short that launches
dominate, or memory is short, the flag is read before the update.
"""

from __future__ import annotations

import itertools
import statistics
import time
from typing import Any, Literal

import torch

from torchmedic.probes.events.optimizers import parameters_of
from torchmedic.probes.objects.pinned import borrow
from torchmedic.replay.company import Company
from torchmedic.replay.finite import gradients_of

Answer = Literal["healthy", "sick now", "sick before"]
Way = Literal["freeze", "shadow", "read"]

_SHORT_STEP_SECONDS = 0.002
_STEPS_TO_CHOOSE = 32  # the exams of the first steps are over by then, and a step takes what it will take
_STEPS_TIMED = 8
_STEPS_TO_AGREE = 64  # ranks share gradients in every step, so that none is still before its choice by then
_SPARE_MEMORY = 2.0
_SCALED = (torch.float16, torch.float32, torch.float64)
_HONOURS_FLAG = ("Adam", "AdamW", "SGD", "Adagrad")


_numbers = itertools.count(1)


class DeviceGuard:
    """One optimizer's guard. `ask` is called right before every update, `done` right after it.

    It does not hold the optimizer: whoever trains in a function takes the optimizer along when it returns.
    """

    def __init__(self, optimizer: Any) -> None:
        self._company = Company()
        self.in_company = not self._company.is_alone
        self._matter = f"shadow_{next(_numbers)}"
        self._device = next(_parameters(optimizer)).device
        self._flag = torch.zeros((), device=self._device)
        self._one = torch.ones((), device=self._device)
        self._host = borrow(1)
        self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._is_asked_before = False
        self._way: Way = "read"
        self._steps = 0
        self._asked = False
        self._asked_at = 0.0
        self._durations: list[float] = []
        self._live: list[torch.Tensor] = []
        self._shadow: list[torch.Tensor] = []

    @staticmethod
    def handles(optimizer: Any) -> bool:
        """Whether all parameters lie on one CUDA device."""
        devices = {p.device for p in _parameters(optimizer)}
        return len(devices) == 1 and next(iter(devices)).type == "cuda"

    def ask(self, optimizer: Any, loss: torch.Tensor | None) -> Answer:
        """Put this step's question; answer the last one (or this one, where it is read at once)."""
        self._measure()
        if self._is_asked_before and self._last_was_sick():
            self._put_back(optimizer)
            return "sick before"
        self._check(optimizer, loss)
        if self._way == "read":
            if bool(self._flag):
                self._flag.zero_()
                return "sick now"
            self._asked = True
            return "healthy"
        self._asked = True
        self._host.copy_(self._flag, non_blocking=True)
        self._event.record(torch.cuda.current_stream(self._device))
        self._is_asked_before = True
        if self._way == "freeze":
            optimizer.found_inf = self._flag
            optimizer.grad_scale = None
        else:
            torch._foreach_copy_(self._shadow, self._live)
        return "healthy"

    @property
    def answers_late(self) -> bool:
        """Whether the answer to this step's question comes with the next one."""
        return self._way != "read"

    def done(self, optimizer: Any) -> None:
        """After the update: leave no trace on the optimizer, and settle on a way when enough was seen."""
        if not self._asked:
            return
        self._asked = False
        if self._way == "freeze":
            del optimizer.found_inf, optimizer.grad_scale
        self._steps += 1
        if self._steps == _STEPS_TO_CHOOSE:
            self._choose(optimizer)
        elif self._steps == _STEPS_TO_AGREE and self.in_company and self._way == "read":
            self._follow_the_others()

    def _measure(self) -> None:
        if _STEPS_TO_CHOOSE - _STEPS_TIMED <= self._steps < _STEPS_TO_CHOOSE:
            now = time.perf_counter()
            if self._asked_at:
                self._durations.append(now - self._asked_at)
            self._asked_at = now

    def _check(self, optimizer: Any, loss: torch.Tensor | None) -> None:
        """One launch per type over all gradients; the flag only ever grows, gradients keep their bits (times 1).

        The scaler's own kernel knows nothing of bfloat16, for which nobody scales: there the largest values are asked.
        """
        # `.data` has a version counter of its own: a graph that saved a gradient must not see it as changed.
        asked = [gradient.data for gradient in gradients_of(optimizer)]
        if loss is not None:
            asked.append(loss.data)
        kinds = {tensor.dtype for tensor in asked}
        for kind in kinds:
            tensors = asked if len(kinds) == 1 else [tensor for tensor in asked if tensor.dtype == kind]
            tensors = [tensor._values() if tensor.is_sparse else tensor for tensor in tensors]
            if kind in _SCALED:
                torch._amp_foreach_non_finite_check_and_unscale_(tensors, self._flag, self._one)
            else:
                largest = torch.stack(torch._foreach_norm(tensors, float("inf")))
                torch.maximum(self._flag, (~torch.isfinite(largest)).any().float(), out=self._flag)

    def _last_was_sick(self) -> bool:
        self._event.synchronize()
        self._is_asked_before = False
        return bool(self._host)

    def _choose(self, optimizer: Any) -> None:
        """Short steps are read at once; fused optimizers freeze; others get a shadow if there is room for one.

        Freezing short steps as well was tried: what it launches takes longer than the wait that it saves.
        """
        if statistics.median(self._durations) < _SHORT_STEP_SECONDS and not self.in_company:
            return
        name = type(optimizer).__name__
        if name in _HONOURS_FLAG and all(group.get("fused") for group in optimizer.param_groups):
            self._way = "freeze"
            return
        self._make_shadow(optimizer)
        if self.in_company:
            self._company.announce(self._matter, bool(self._shadow))
        elif self._shadow:
            self._way = "shadow"

    def _make_shadow(self, optimizer: Any) -> None:
        live = list(_device_state(optimizer, self._device))
        size = sum(t.numel() * t.element_size() for t in live)
        if torch.cuda.mem_get_info(self._device)[0] > _SPARE_MEMORY * size:
            self._live, self._shadow = live, [t.clone() for t in live]

    def _follow_the_others(self) -> None:
        """All ranks have to learn of a sick step at once: a shadow only where every one of them has room for it."""
        if self._company.all_announced(self._matter):
            self._way = "shadow"
        else:
            self._live, self._shadow = [], []

    def _put_back(self, optimizer: Any) -> None:
        """Undo the updates that were made before the answer was known, and let the flag start anew."""
        if self._way == "shadow":
            with torch.no_grad():
                torch._foreach_copy_(self._live, self._shadow)
                for state in optimizer.state.values():
                    step = state.get("step")
                    if isinstance(step, torch.Tensor) and step.device.type == "cpu":
                        step -= 1
        self._flag.zero_()


def _parameters(optimizer: Any) -> Any:
    return (p for p in parameters_of(optimizer))


def _device_state(optimizer: Any, device: torch.device) -> Any:
    """Parameters and state tensors that live on the device."""
    yield from (p.detach() for p in _parameters(optimizer))
    for state in optimizer.state.values():
        yield from (t for t in state.values() if isinstance(t, torch.Tensor) and t.device == device)
