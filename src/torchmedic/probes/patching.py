"""Replacing functions of other libraries, and putting every one of them back."""

from __future__ import annotations

from typing import Any


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
