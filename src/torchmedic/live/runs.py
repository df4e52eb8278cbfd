"""The runs that the live page knows: found in folders, read again only when they have changed."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchmedic import sampled
from torchmedic.facts import Run, RunInfo, Series
from torchmedic.findings import Verdict
from torchmedic.ranks.merging import load_whole, rank_files
from torchmedic.render.diffs import with_diffs
from torchmedic.render.html import Report, chart_data, in_every_language, verdicts_html
from torchmedic.reporting import rule_pages, sampled_series, sources_of
from torchmedic.store import RUN_FILE, RunFileError, load_info
from torchmedic.triage import examine

_POINTS, _COLUMNS = 600, 120
_SILENT_AFTER = 120.0  # seconds without a change
_MOST_RUNS = 200
_PAUSE = 1.5  # seconds between two looks at the files of a run, however many want to know
_REST = 100  # times as long as reading took: a run that is dear to read is read less often


@dataclass
class LiveRun:
    """One run folder, with what was last read of it."""

    folder: Path
    lock: threading.Lock = field(default_factory=threading.Lock)
    version: str = ""
    looked_at: float = float("-inf")
    reading_took: float = 0.0
    read_version: str | None = None
    snapshot: bytes = b""
    judged: tuple[tuple[int, ...], Run, Verdict] | None = None
    told: tuple[Verdict, dict[str, str]] | None = None
    info: tuple[str, RunInfo] | None = None

    @property
    def files(self) -> list[Path]:
        """The file of the process that was started, and those of its ranks."""
        return [self.folder / RUN_FILE, *rank_files(self.folder)]

    def current_version(self) -> str:
        """Changes when a run file has, at most once in a while, and for everybody at once."""
        now = time.monotonic()
        if now - self.looked_at >= max(_PAUSE, _REST * self.reading_took):
            self.version, self.looked_at = self._look(), now
        return self.version

    def _look(self) -> str:
        """Sizes and times of the files and of their logs, which grow before the files do."""
        parts = []
        for path in self.files:
            for beside in (path, path.with_name(f"{path.name}-wal")):
                try:
                    seen = beside.stat()
                    parts.append(f"{seen.st_mtime_ns:x}.{seen.st_size:x}")
                except OSError:
                    continue
        return "-".join(parts)


class Runs:
    """Every run below the folders that the page was started for; nothing else can be asked for."""

    def __init__(self, base: Path, chosen: Path | None = None) -> None:
        self._base = base
        self._chosen = chosen
        self._known: dict[str, LiveRun] = {}

    def found(self) -> dict[str, LiveRun]:
        """Runs by name, newest first."""
        folders = [self._chosen] if self._chosen is not None else []
        if self._base.is_dir():
            inside = [path for path in self._base.iterdir() if path.is_dir() and not path.is_symlink()]
            folders += sorted(inside, key=lambda path: path.name, reverse=True)[:_MOST_RUNS]
        named = {folder.name: folder for folder in folders if (folder / RUN_FILE).exists()}
        self._known = {name: self._known.get(name) or LiveRun(folder) for name, folder in named.items()}
        return self._known

    def get(self, name: str) -> LiveRun | None:
        return self._known.get(name) or self.found().get(name)

    def listed(self) -> list[dict[str, Any]]:
        """One line for each run."""
        return [{"id": name, **_line(run)} for name, run in self.found().items()]


def _line(run: LiveRun) -> dict[str, Any]:
    version = run.current_version()
    try:
        if run.info is None or run.info[0] != version:
            run.info = (version, load_info(run.folder / RUN_FILE))
        info = run.info[1]
    except RunFileError as error:
        return {"script": run.folder.name, "state": "unreadable", "error": str(error)}
    return {"script": " ".join(info.argv), "started": info.started, "state": _state(info, run)}


def _state(info: RunInfo, run: LiveRun) -> str:
    if info.exit_code is not None:
        return "stopped" if info.stopped_by_us else "failed" if info.exit_code else "ended"
    files = [beside for path in run.files for beside in (path, path.with_name(f"{path.name}-wal"))]
    last = max((path.stat().st_mtime for path in files if path.exists()), default=0.0)
    return "running" if time.time() - last < _SILENT_AFTER else "silent"


def snapshot(run: LiveRun) -> bytes:
    """What the page shows of a run, as JSON; the same bytes for everybody until the run has changed."""
    with run.lock:
        version = run.current_version()
        if version != run.read_version:
            began = time.thread_time()
            run.snapshot = json.dumps(_read(run), separators=(",", ":"), ensure_ascii=False).encode()
            run.read_version = version
            run.reading_took = time.thread_time() - began
        return run.snapshot


def _read(run: LiveRun) -> dict[str, Any]:
    try:
        return _contents(run)
    except (RunFileError, sqlite3.Error, OSError) as error:
        return {"id": run.folder.name, "error": in_every_language(str(error))}


def _contents(run: LiveRun) -> dict[str, Any]:
    seen, verdict = _judged(run)
    curves, layers = sampled_series(run.folder, points=_POINTS, columns=_COLUMNS)
    return {
        "id": run.folder.name,
        "script": " ".join(seen.info.argv),
        "started": seen.info.started,
        "steps": _steps(seen.info, curves),
        "state": _state(seen.info, run),
        "ranks": len(curves),
        "verdict": _told(run, seen, verdict),
        **chart_data(seen, curves, layers),
    }


def _steps(info: RunInfo, curves: tuple[tuple[Series, ...], ...]) -> int:
    """Steps made; while a run goes on, those known by their samples. A sick step has a loss and is not made."""
    if info.exit_code is not None and info.steps:
        return info.steps
    return max([info.steps, *(series.steps[-1] for some in curves for series in some)])


def _judged(run: LiveRun) -> tuple[Run, Verdict]:
    """The run and the verdict on it so far, kept until there are new facts; how it ended is always read anew."""
    facts = tuple(sampled.count_facts(path) for path in run.files)
    if run.judged is None or run.judged[0] != facts:
        read = load_whole(run.folder)
        run.judged = (facts, read, with_diffs(examine(read)))
    _, seen, verdict = run.judged
    now = load_info(run.folder / RUN_FILE)
    info = replace(seen.info, exit_code=now.exit_code, stopped_by_us=seen.info.stopped_by_us or now.stopped_by_us)
    return replace(seen, info=info), replace(verdict, info=info)


def _told(run: LiveRun, seen: Run, verdict: Verdict) -> dict[str, str]:
    """The verdict as the page shows it, in every language; drawn anew only when it has changed."""
    if not verdict.diagnoses and not verdict.unexplained and seen.info.exit_code is None:
        return {}
    if run.told is None or run.told[0] != verdict:
        report = Report(verdict=verdict, run=seen, sources=sources_of(seen, verdict), pages=rule_pages(verdict))
        run.told = (verdict, verdicts_html(report))
    return run.told[1]
