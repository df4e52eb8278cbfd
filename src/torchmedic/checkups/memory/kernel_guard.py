"""Linux's own guard over files: what other programs and libraries' own code would delete or overwrite stays.

Python's functions are led to the overlay and never meet it. Where Linux has no Landlock, nothing is guarded.
"""

from __future__ import annotations

import ctypes
import os
import site
import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from typing import Any

# Numbers of the kernel's calls and rights, the same on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_REMOVE_FOLDER, _REMOVE_FILE, _MOVE, _TRUNCATE = 1 << 4, 1 << 5, 1 << 13, 1 << 14
_GUARDED = _REMOVE_FOLDER | _REMOVE_FILE | _MOVE | _TRUNCATE
_VERSION_ASKED = 1
_WITH_TRUNCATE = 3
_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def can_guard() -> bool:
    """Whether this system has the guard, and it knows of files that are emptied."""
    if sys.platform != "linux":
        return False
    version: int = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION_ASKED)
    return version >= _WITH_TRUNCATE


def guard_files(free: Iterable[str]) -> None:
    """Let this process and its children delete, move and empty files in these folders only; new ones may be made."""
    if not can_guard():
        return
    call: Any = ctypes.CDLL(None).syscall
    ours = [*free, *_homes_of_python()]
    rights = ctypes.c_uint64(_GUARDED)
    ruleset = call(_CREATE_RULESET, ctypes.byref(rights), ctypes.sizeof(rights), 0)
    if ruleset < 0:
        return
    try:
        for folder in ours:
            _allow(call, ruleset, folder)
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _write_bytecode_only_below(ours)
        call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(call: Any, ruleset: int, folder: str) -> None:
    try:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rule = _Beneath(_GUARDED, handle)
    call(_ADD_RULE, ruleset, _BENEATH, ctypes.byref(rule), 0)
    os.close(handle)


def _homes_of_python() -> list[str]:
    """Where bytecode of libraries is written by whoever imports them first."""
    return [sys.prefix, sys.base_prefix, *site.getsitepackages(), site.getusersitepackages()]


def _write_bytecode_only_below(folders: list[str]) -> None:
    """Bytecode is written beside its name and moved there: where that is refused, the piece would stay."""
    true = SourceFileLoader.set_data
    below = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)

    def set_data(self: SourceFileLoader, path: str, data: Any, *, _mode: int = 0o666) -> None:
        if os.path.realpath(path).startswith(below):
            true(self, path, data, _mode=_mode)

    SourceFileLoader.set_data = set_data  # type: ignore[method-assign]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
