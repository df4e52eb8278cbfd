"""Replacing functions of other libraries, and putting every one of them back."""

from __future__ import annotations

import sys
from typing import Any, ClassVar


def hide_frame(error: BaseException) -> None:
    """Take the frame that calls this out of a traceback, before a bare `raise`: the user sees their own frames only."""
    trace = error.__traceback__
    if trace is not None and trace.tb_frame is sys._getframe(1):
        error.__traceback__ = trace.tb_next


class _FrameHidden:
    """As a block around a call: when it fails, the frame with the block is not in the traceback."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is not None and trace is not None and trace.tb_frame is sys._getframe(1):
            error.__traceback__ = trace.tb_next


frame_hidden = _FrameHidden()


class Patches:
    """Attribute replacements that are undone together, newest first.

    What somebody has wrapped since then is undone later: putting the old function back would drop their wrapper.
    """

    _covered: ClassVar[list[tuple[Any, str, Any, bool, Any]]] = []

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, bool, Any]] = []

    def replace(self, owner: Any, name: str, new: Any) -> Any:
        """Set `owner.name` and return what was there."""
        own = name in vars(owner)
        old = getattr(owner, name)
        self._undo.append((owner, name, vars(owner)[name] if own else None, own, new))
        setattr(owner, name, new)
        return old

    def restore(self) -> None:
        waiting = [*reversed(self._undo), *reversed(self._covered)]
        self._undo.clear()
        self._covered.clear()
        self._covered.extend(reversed([undo for undo in waiting if not _put_back(*undo)]))


def _put_back(owner: Any, name: str, old: Any, own: bool, new: Any) -> bool:
    if vars(owner).get(name) is not new:
        return False
    if own:
        setattr(owner, name, old)
    else:
        delattr(owner, name)
    return True
