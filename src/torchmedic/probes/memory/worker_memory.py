"""Watches the memory that loader workers have for themselves: a list of objects read there is copied page by page."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchmedic.facts import Location, WorkerGrowth
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe, Recorder

_FIRST_LOOK = 2
_MANY_OBJECTS = 50_000
_KIB = 1024


class WorkerMemory(Probe):
    """Looks at batches 2, 4, 8, … of every pass, and keeps the largest growth."""

    name = "worker-memory"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._iterator: Any = None
        self._batches = 0
        self._before = 0
        self._found: WorkerGrowth | None = None

    def on_batch(self, batch: Any, iterator: Any) -> None:
        workers = getattr(iterator, "_workers", None)
        if not workers:
            return
        if iterator is not (self._iterator() if self._iterator is not None else None):
            self._iterator, self._batches, self._before = weakref.ref(iterator), 0, 0
        self._batches += 1
        if self._batches >= _FIRST_LOOK and self._batches & (self._batches - 1) == 0:
            self._look(iterator, workers)

    def on_finish(self) -> None:
        if self._found is not None:
            self.recorder.observe(self._found)

    def _look(self, iterator: Any, workers: Any) -> None:
        held = sum(own_bytes(worker.pid) for worker in workers if worker.pid)
        if not self._before:
            self._before = held
        known = self._found.after - self._found.before if self._found is not None else 0
        if held - self._before <= known:
            return
        for dataset, path, container in _containers(getattr(iterator, "_dataset", None)):
            self._found = WorkerGrowth(
                step=self.recorder.step,
                workers=len(workers),
                batches=self._batches,
                before=self._before,
                after=held,
                dataset=type_name(dataset),
                path=path,
                container=type(container).__name__,
                count=len(container),
                where=_filled_at(dataset, path),
            )
            return


def own_bytes(pid: int) -> int:
    """What a process has for itself, not shared with its parent; 0 where the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(amount) for amount in re.findall(r"^Private_Dirty:\s+(\d+) kB", text, re.MULTILINE)) * _KIB


def _containers(dataset: Any, depth: int = 3) -> Iterator[tuple[Any, str, Any]]:
    """Lists and dicts of very many Python objects among the attributes of a data set, and of the one it wraps."""
    if dataset is None or depth == 0:
        return
    for name, value in list(getattr(dataset, "__dict__", {}).items()):
        if isinstance(value, (list, tuple, dict)) and len(value) >= _MANY_OBJECTS:
            yield dataset, name, value
    yield from _containers(getattr(dataset, "dataset", None), depth - 1)


def _filled_at(dataset: Any, path: str) -> Location | None:
    """The line of the data set's class that assigns the attribute."""
    try:
        file = inspect.getsourcefile(type(dataset)) or ""
        lines, first = inspect.getsourcelines(type(dataset))
    except (OSError, TypeError):
        return None
    if not is_user_file(file):
        return None
    assigned = re.compile(rf"\bself\.{re.escape(path)}\s*(?::[^=]+)?=[^=]")
    at = next((number for number, line in enumerate(lines) if assigned.search(line)), None)
    return location(file, first + at, "__init__") if at is not None else None
