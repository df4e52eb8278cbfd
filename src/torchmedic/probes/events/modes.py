"""Torch-function modes that are switched on and off in the middle of somebody else's program."""

from __future__ import annotations

import sys
from typing import Any

import torch

# A mode with this mark is taken off by whoever put it on, wherever in the stack it is by then.
LISTENS = "listens_only"

_put_aside: list[Any] = []


def take_off(mode: Any) -> bool:
    """Take a mode off wherever in the stack it is; those above it stay.

    False where it is not there: in the middle of a call that it handles, torch itself has put it aside and will put
    it back. The next `sweep` takes it off.
    """
    found = _taken_off(mode)
    if not found:
        _put_aside.append(mode)
    return found


def sweep() -> None:
    """Take off what could not be taken off in the middle of a call; called where no call is being handled."""
    while _put_aside:
        _taken_off(_put_aside.pop())


def _taken_off(mode: Any) -> bool:
    above = []
    found = False
    while torch._C._len_torch_function_stack() and not found:
        top: Any = torch._C._pop_torch_function_stack()
        found = top is mode
        if not found:
            above.append(top)
    for other in reversed(above):
        torch._C._push_on_torch_function_stack(other)
    return found


def may_put_on() -> bool:
    """Whether a mode of ours can go on the stack: not above one whose end would take ours off instead.

    The mode of `torch.set_default_device` stays for good and is no hindrance, nor is one of ours that only listens.
    """
    size = torch._C._len_torch_function_stack()
    modes: list[Any] = [torch._C._get_function_stack_at(depth) for depth in range(size)]
    others = [mode for mode in modes if not getattr(mode, LISTENS, False)]
    return not others or (len(others) == 1 and isinstance(others[0], torch.utils._device.DeviceContext))


def is_compiled() -> bool:
    """Whether dynamo has compiled something: a mode would make it compile again."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return bool(dynamo and getattr(dynamo, "counters", {}).get("frames"))
