"""Attributes replaced for a while."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """Replaces attributes and puts them back, last one first."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> Any:
        """Replace an attribute; returns what was there."""
        before = getattr(owner, name, None)
        old = vars(owner).get(name, _MISSING) if isinstance(owner, type) else getattr(owner, name, _MISSING)
        self._before.append((owner, name, old))
        setattr(owner, name, value)
        return before

    def undo(self) -> None:
        while self._before:
            owner, name, old = self._before.pop()
            if old is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)
