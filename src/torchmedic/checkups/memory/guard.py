"""Lets autograd accept fake CUDA tensors on a torch that was built without CUDA.

C++ asks the guard of a tensor's device for streams and device counts. torch has a guard that does nothing, and
installs it in place of a CUDA guard that sees no device; a build without CUDA has no guard to replace. A stub whose
every method answers 0 is put there for torch to replace.

A build with CUDA on a machine without a card goes further: its engine asks the driver about every device that the
guard counts, and the driver knows of none. The engine asks about the accelerator only, and a backend of one's own is
the accelerator wherever it is registered: one without devices is, and the engine has nobody to ask about.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import torch
from torch.utils.backend_registration import rename_privateuse1_backend

_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_CUDA, _OWN_BACKEND = 1, 20
_DEVICE_TYPES = 21
_METHODS = 64
_kept: list[Any] = []


class GuardError(RuntimeError):
    """This torch does not let itself be prepared."""


def install_guard() -> None:
    """Give fake CUDA tensors a device guard."""
    slots = _registry()
    if torch.version.cuda and not torch.cuda.is_available():
        _hide_the_missing_card(slots)
    stub = 0
    if not slots[_CUDA]:
        stub = _stub()
        slots[_CUDA] = stub
    torch._C._ensureCUDADeviceGuardSet()
    if stub and slots[_CUDA] == stub:
        slots[_CUDA] = None
        raise GuardError("torch did not install its own guard for CUDA")


def _hide_the_missing_card(slots: Any) -> None:
    if not slots[_OWN_BACKEND]:
        rename_privateuse1_backend("nothing")
        slots[_OWN_BACKEND] = _stub()


def _registry() -> Any:
    folder = Path(torch.__file__).parent / "lib"
    library = next((file for file in sorted(folder.glob("libc10.*"))), None)
    if library is None:
        raise GuardError("libc10 was not found")
    try:
        return (ctypes.c_void_p * _DEVICE_TYPES).in_dll(ctypes.CDLL(str(library)), _REGISTRY)
    except (OSError, ValueError) as error:
        raise GuardError(str(error)) from error


def _stub() -> int:
    answer = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(lambda _self: 0)
    address = ctypes.cast(answer, ctypes.c_void_p).value
    table = (ctypes.c_void_p * _METHODS)(*[address] * _METHODS)
    thing = (ctypes.c_void_p * 2)(ctypes.addressof(table), 0)
    _kept.extend((answer, table, thing))
    return ctypes.addressof(thing)
