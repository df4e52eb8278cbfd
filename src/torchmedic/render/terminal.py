"""The terminal to draw on: its width, and whether colours are welcome there."""

from __future__ import annotations

import os
from typing import TextIO

from rich.console import Console

_WIDTH_OF_A_FILE = 100


def terminal(stream: TextIO) -> Console:
    """A console for a stream: plain where NO_COLOR or CI is set, and where nobody looks."""
    is_terminal = stream.isatty()
    is_plain = not is_terminal or any(os.environ.get(name) for name in ("NO_COLOR", "CI"))
    width = None if is_terminal else int(os.environ.get("COLUMNS") or _WIDTH_OF_A_FILE)
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
