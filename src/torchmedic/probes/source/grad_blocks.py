"""Which of the user's blocks and functions switches gradients off: torch itself does so all the time."""

from __future__ import annotations

import functools
import sys
from types import CodeType, FrameType
from typing import Any, ClassVar, Protocol

import torch

from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.frames import is_user_file

Site = tuple[CodeType, int]

_DECORATOR_FILE = torch.utils._contextlib.__file__

# Calls inside libraries of functions that are decorated there, in every step: their frames are dear to look into. Kept
# with the code, so that no other code can have the same `id`.
_of_libraries: dict[tuple[int, int], CodeType] = {}


class Listener(Protocol):
    """Who wants to know of the user's blocks without gradients; blocks inside such a block are not told of."""

    def block_begins(self, site: Site) -> None: ...

    def block_ends(self) -> None: ...


class GradBlocks:
    """One pair of replacements for each of torch's own blocks, however many listen."""

    _listeners: ClassVar[list[Listener]] = []
    _open: ClassVar[list[Any]] = []
    _patches: ClassVar[Patches] = Patches()

    @classmethod
    def add(cls, listener: Listener) -> None:
        if not cls._listeners:
            for kind in (torch.no_grad, torch.inference_mode):
                cls._watch(kind)
        cls._listeners.append(listener)

    @classmethod
    def remove(cls, listener: Listener) -> None:
        cls._listeners.remove(listener)
        if not cls._listeners:
            cls._patches.restore()
            cls._open.clear()

    @classmethod
    def _watch(cls, kind: type) -> None:
        enter, leave = vars(kind)["__enter__"], vars(kind)["__exit__"]
        opened, listeners = cls._open, cls._listeners

        @functools.wraps(enter)
        def enter_(context: Any) -> Any:
            if opened:
                opened.append(context)
            else:
                site = user_block(sys._getframe(1))
                if site is not None:
                    opened.append(context)
                    for listener in tuple(listeners):
                        listener.block_begins(site)
            return enter(context)

        @functools.wraps(leave)
        def leave_(context: Any, *error: Any) -> Any:
            if opened and context in opened:  # not always the last one: a generator may hold a block open
                opened.remove(context)
                if not opened:
                    for listener in tuple(listeners):
                        listener.block_ends()
            return leave(context, *error)

        cls._patches.replace(kind, "__enter__", enter_)
        cls._patches.replace(kind, "__exit__", leave_)


def user_block(frame: FrameType) -> Site | None:
    """The code with the block, and its line; for a decorated function its own code and first line."""
    code, caller = frame.f_code, frame.f_back
    if code.co_filename != _DECORATOR_FILE:
        return (code, frame.f_lineno or 0) if is_user_file(code.co_filename) else None
    key = (id(caller.f_code), caller.f_lasti) if caller is not None else None
    if key in _of_libraries:
        return None
    inner = getattr(frame.f_locals.get("func"), "__code__", None)
    if inner is not None and is_user_file(inner.co_filename):
        return inner, inner.co_firstlineno
    if caller is not None and key is not None and not is_user_file(caller.f_code.co_filename):
        _of_libraries[key] = caller.f_code
    return None
