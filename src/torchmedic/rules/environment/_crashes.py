"""Reading of crashes that the environment rules share."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.rules.errors._syntax import Code


def links(run: Run) -> Iterator[Crash]:
    """The crash and the exceptions behind it."""
    crash = run.first(Crash)
    while crash is not None:
        yield crash
        crash = crash.cause


def user_line(run: Run, told: Crash | None = None) -> Location | None:
    """The user's innermost line: of the exception that tells, or else of any other in the chain."""
    first = [told] if told is not None else []
    for crash in [*first, *links(run)]:
        if crash.user_frame is not None:
            return crash.user_frame.location
    return None


def device_line(run: Run, told: Crash | None = None) -> Location | None:
    """Where the script names the CUDA device that it was refused: one place, and not the one that failed."""
    failed = user_line(run, told)
    if failed is None or "cuda" in failed.source:
        return failed
    code = Code.of(run)
    named = [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"cuda(:\d+)?", node.value)
    ]
    lines = {(place.file, place.line): place for place in named if "is_available" not in place.source}
    # A comparison with the word chooses nothing.
    chosen = [place for place in lines.values() if not re.search(r"==|startswith| in ", place.source)]
    return chosen[0] if len(chosen) == 1 else failed


def import_line(run: Run, module: str) -> Location | None:
    """The user's line that asked for a module: an import of it, or else the innermost line."""
    top = module.partition(".")[0]
    for crash in links(run):
        for frame in reversed(crash.frames):
            if frame.is_user and re.search(rf"\b(?:import|from)\b.*\b{re.escape(top)}\b", frame.location.source):
                return frame.location
    return user_line(run)


def missing_module(crash: Crash) -> str:
    """The module that a ModuleNotFoundError names."""
    if crash.type_name != "ModuleNotFoundError":
        return ""
    match = re.search(r"No module named '?([\w.]+)'?", crash.message)
    return match.group(1) if match else ""


def first_line(text: str, longest: int = 120) -> str:
    """The first line of a message, or its first sentence where that is long, without names made at random."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    line = re.sub(r"file </torch_[^>]*>", "a file in `/dev/shm`", line)
    if len(line) > longest // 2:
        line = re.split(r"(?<=[^.]{12})\. (?=[A-Z])", line)[0]
    return line if len(line) <= longest else line[: longest - 1] + "…"


def quoted(text: str) -> str:
    """A message as a note."""
    return f'the message was "{first_line(text)}"'


def size(count: float) -> str:
    """Bytes in the unit that reads best.

    >>> size(67108864)
    '64 MiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if count >= 10 or count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return ""
