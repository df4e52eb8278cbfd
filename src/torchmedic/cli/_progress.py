"""A progress bar for long check-ups, on a terminal only, gone when they end."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchmedic.checkups.data.options import Progress

_AFTER = 1.5
_EVERY = 0.2


@contextlib.contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Draw what a check-up is doing, how far the query under way is, and how long it will take."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    drawer = threading.Thread(target=_draw, args=(progress, over), daemon=True)
    drawer.start()
    try:
        yield
    finally:
        over.set()
        drawer.join()


def _draw(progress: Progress, over: threading.Event) -> None:
    if over.wait(_AFTER):
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from torchmedic.translation import said

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task, stage = bar.add_task("", total=100), ""
        while not over.wait(_EVERY):
            if progress.doing != stage:
                stage = progress.doing
                if _percent(progress) < bar.tasks[0].completed:
                    bar.reset(task)
                bar.update(task, description=said(stage))
            bar.update(task, completed=_percent(progress))


def _percent(progress: Progress) -> float:
    """How far the engine's query is; the number of sources done where the engine has none under way."""
    with contextlib.suppress(Exception):
        done = float(progress.connection.query_progress())
        if done >= 0:
            return done
    return 100 * progress.done / max(1, progress.sources)
