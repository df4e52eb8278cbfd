"""Memory of the host that a device can write to behind the training's back."""

from __future__ import annotations

import ctypes
from collections import defaultdict

import torch

_free: defaultdict[int, list[torch.Tensor]] = defaultdict(list)


def borrow(size: int) -> torch.Tensor:
    """A page-locked tensor of at least this size; to be given back, since it is never freed.

    A page-locked tensor that is freed after a device-side assert ends the process, also when Python shuts down.
    """
    room = 1 << max(0, size - 1).bit_length()
    if _free[room]:
        return _free[room].pop()
    tensor = torch.zeros(room, device="cpu", pin_memory=True)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(tensor))
    return tensor


def give_back(tensor: torch.Tensor) -> None:
    """Let another one borrow it: nothing is on its way into it any more."""
    _free[len(tensor)].append(tensor)
