"""Keeps the script's own output single while a step runs again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


class _Silence:
    """Swallows text; everything else is asked of the stream it stands for."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Swallow them too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Mute:
    """Replaces `sys.stdout` and `sys.stderr` between `start` and `stop`."""

    def __init__(self) -> None:
        self._before: tuple[Any, Any] | None = None

    def start(self) -> None:
        if self._before is None:
            self._before = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = _Silence(sys.stdout), _Silence(sys.stderr)

    def stop(self) -> None:
        if self._before is not None:
            sys.stdout, sys.stderr = self._before
            self._before = None
