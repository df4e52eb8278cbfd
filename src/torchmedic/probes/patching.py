"""Replacing functions of other libraries, and putting every one of them back."""

from __future__ import annotations

import sys
from typing import Any


def hide_frame(error: BaseException) -> None:
    """Take the frame that calls this out of a traceback, before a bare `raise`: the user sees their own frames only."""
    trace = error.__traceback__
    if trace is not None and trace.tb_frame is sys._getframe(1):
        error.__traceback__ = trace.tb_next


class Patches:
    """Attribute replacements that are undone together, newest first."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, bool]] = []

    def replace(self, owner: Any, name: str, new: Any) -> Any:
        """Set `owner.name` and return what was there."""
        own = name in vars(owner)
        old = getattr(owner, name)
        self._undo.append((owner, name, vars(owner)[name] if own else None, own))
        setattr(owner, name, new)
        return old

    def restore(self) -> None:
        while self._undo:
            owner, name, old, own = self._undo.pop()
            if own:
                setattr(owner, name, old)
            else:
                delattr(owner, name)
