"""Modes that torch has put aside while we take them off do not stay on."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.probes.events.modes import sweep, take_off


class _TakesItselfOff(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert not take_off(self)  # torch has put it aside for this call
        return func(*args, **(kwargs or {}))


def test_a_mode_taken_off_in_the_middle_of_its_call_is_swept_away() -> None:
    torch._C._push_on_torch_function_stack(_TakesItselfOff())
    torch.ones(1).add(1)
    assert torch._C._len_torch_function_stack() == 1
    sweep()
    assert torch._C._len_torch_function_stack() == 0
