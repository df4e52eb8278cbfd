"""Reads the stack that Python's fault handler leaves when native code ends a process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchmedic.facts import Location

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_OWN = str(Path(__file__).parents[2]) + os.sep
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen|^<")


def own_frame(stack: Sequence[Location]) -> Location | None:
    """The innermost frame that is not a library's."""
    return next((place for place in stack if not _LIBRARY.search(place.file)), None)


def frames_of(native_stack: Sequence[str], cwd: str) -> Iterator[Location]:
    """The frames of the thread that crashed, innermost first."""
    started = False
    crashed = next((i for i, line in enumerate(native_stack) if line.startswith("Current thread")), -1)
    for line in native_stack[crashed + 1 :]:
        found = _FRAME.search(line)
        if found is None:
            if started:
                return
            continue
        started = True
        if found["file"].startswith(_OWN):
            continue
        file = found["file"].removeprefix(cwd.rstrip("/") + "/") if cwd else found["file"]
        yield Location(file=file, line=int(found["line"]), function=found["function"])
