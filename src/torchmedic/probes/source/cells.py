"""Code of notebook cells: it lies in no file, and its owner knows it by the number of the cell."""

from __future__ import annotations

import linecache
import sys
from typing import Any

from torchmedic.probes.source.frames import show_as


def shell() -> Any:
    """The IPython shell of this process, if there is one."""
    interactive = sys.modules.get("IPython")
    return interactive.get_ipython() if interactive is not None else None


def is_notebook() -> bool:
    """Whether what is displayed may be HTML."""
    return type(shell()).__name__ == "ZMQInteractiveShell"


def name_cells() -> dict[str, tuple[str, ...]]:
    """Make locations in cells say `Cell In[3]` instead of a made-up path; returns the lines of each by that name."""
    running = shell()
    found: dict[str, tuple[str, ...]] = {}
    for filename in list(linecache.cache) if running is not None else ():
        label = running.compile.format_code_name(filename)
        if label is not None:
            name = " ".join(label)
            show_as(filename, name)
            found[name] = tuple(line.rstrip("\n") for line in linecache.getlines(filename))
    return found
