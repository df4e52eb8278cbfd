"""The terminal to draw on: its width, and whether colours are welcome there."""

from __future__ import annotations

import io
import os
from typing import TextIO

from rich.console import Console

_WIDTH_OF_A_FILE = 100


def paper(text: io.StringIO) -> Console:
    """A console for a text that is kept: plain, whatever a notebook or a runner asks of terminals by FORCE_COLOR."""
    return _console(text, is_plain=True, width=_WIDTH_OF_A_FILE)


def terminal(stream: TextIO) -> Console:
    """A console for a stream: plain where NO_COLOR or CI is set, and where nobody looks."""
    is_terminal = stream.isatty()
    is_plain = not is_terminal or any(os.environ.get(name) for name in ("NO_COLOR", "CI"))
    width = None if is_terminal else int(os.environ.get("COLUMNS") or _WIDTH_OF_A_FILE)
    return _console(stream, is_plain=is_plain, width=width)


def _console(stream: TextIO, *, is_plain: bool, width: int | None) -> Console:
    return Console(
        file=stream,
        width=width,
        force_terminal=False if is_plain else None,
        color_system=None if is_plain else "auto",
        force_jupyter=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
