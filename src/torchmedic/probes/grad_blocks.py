"""Which of the user's blocks and functions switches gradients off: torch itself does so all the time."""

from __future__ import annotations

from types import CodeType, FrameType

import torch

from torchmedic.probes.frames import is_own_file, is_user_file

_DECORATOR_FILE = torch.utils._contextlib.__file__

# Calls inside libraries of functions that are decorated there, in every step: their frames are dear to look into.
_of_libraries: set[tuple[CodeType, int]] = set()


def user_block(frame: FrameType) -> tuple[CodeType, int] | None:
    """The code with the block, and its line; for a decorated function its own code and first line."""
    while is_own_file(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back  # another probe may listen to the same block
    code, caller = frame.f_code, frame.f_back
    if code.co_filename != _DECORATOR_FILE:
        return (code, frame.f_lineno or 0) if is_user_file(code.co_filename) else None
    site = (caller.f_code, caller.f_lasti) if caller is not None else None
    if site in _of_libraries:
        return None
    inner = getattr(frame.f_locals.get("func"), "__code__", None)
    if inner is not None and is_user_file(inner.co_filename):
        return inner, inner.co_firstlineno
    if site is not None and not is_user_file(site[0].co_filename):
        _of_libraries.add(site)
    return None
