"""What rules about runs that stand still share."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchmedic.facts import AwaitedBy, Location, Run, Standing, standing_of
from torchmedic.findings import Also

_BETWEEN_RANKS = ("collective", "gradients")
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}", f"{os.sep}lib{os.sep}python")


def stuck(run: Run) -> Standing | None:
    """Where a process stands still, of its own accord: not for other ranks, nor while others wait for it."""
    standing = standing_of(run)
    if standing is None or not standing.patience:
        return None
    is_between_ranks = standing.waits_for in _BETWEEN_RANKS or run.first(AwaitedBy) is not None
    return None if is_between_ranks and run.info.world > 1 else standing


def own_lines(stack: tuple[Location, ...]) -> list[Location]:
    """The lines of a stack that are the user's, innermost first."""
    return [at for at in stack if not at.file.startswith("<") and not any(part in at.file for part in _LIBRARIES)]


def own_line(stack: tuple[Location, ...]) -> Location | None:
    return next(iter(own_lines(stack)), None)


def taken_elsewhere(standing: Standing) -> tuple[Also, ...]:
    """Where a thread takes the lock that a forked worker waits for."""
    if standing.waits_for != "loader" or standing.taken_at is None:
        return ()
    why = f"thread `{standing.taken_by}` takes the same lock here, and held it when the worker was forked"
    return (Also(location=standing.taken_at, why=why),)


def innermost(stack: tuple[Location, ...]) -> str:
    """The innermost frame in words: `acquire` in threading.py:327."""
    if not stack:
        return "nowhere in Python"
    at = stack[0]
    return f"`{at.function or 'the module'}` at {os.path.basename(at.file)}:{at.line}"


def since(standing: Standing) -> str:
    """When the run came to a stop, in steps: seconds are for the line that is said at once."""
    made = f"after step {standing.step}" if standing.step else "before the first step"
    return f"{made} nothing moved any more: the same line, no processor time, no wake-up"


def other_threads(standing: Standing, most: int = 4) -> Iterator[str]:
    """Where the other threads of the user's stand."""
    for thread in [t for t in standing.threads if not t.is_main and own_line(t.stack) is not None][:most]:
        at = own_line(thread.stack)
        yield f"thread `{thread.name}` stands at {at} (`{at.source.strip() if at else ''}`)"
