"""The run file: one SQLite database per process watched, written by a thread, readable at any time."""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchmedic.facts import Observation, Run, RunInfo, from_plain, observation_from_plain, to_plain
from torchmedic.settings import RUN_FILE as RUN_FILE

APPLICATION_ID = 0x746D6564  # "tmed"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE info (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL);
CREATE TABLE observations (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, step INTEGER, body TEXT NOT NULL);
CREATE TABLE series (name TEXT NOT NULL, step INTEGER NOT NULL, value REAL, PRIMARY KEY (name, step)) WITHOUT ROWID;
"""


class RunFileError(Exception):
    """A run file that cannot be read; the message is one line for the user."""


def create(path: Path, info: RunInfo) -> None:
    """Make an empty run file; refuses to touch one that exists."""
    if path.exists():
        raise RunFileError(f"{path} exists already; a run file is never written over")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with contextlib.closing(_connect(new)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO info VALUES (1, ?)", (json.dumps(to_plain(info)),))
    # Appears whole: the watched process has been started already and waits for it.
    new.rename(path)


def append(path: Path, observations: Iterable[Observation]) -> None:
    """Add observations to a run file in one transaction."""
    with contextlib.closing(_connect(path)) as db, db:
        _insert(db, observations)


def discard(path: Path, kind: type[Observation]) -> None:
    """Take back what turned out not to be so."""
    with contextlib.closing(_connect(path)) as db, db:
        db.execute("DELETE FROM observations WHERE kind = ?", (kind.kind,))


def update_info(path: Path, **changes: Any) -> None:
    """Change fields of the run's frame, for example its exit code."""
    with contextlib.closing(_connect(path)) as db, db:
        info = replace(_read_info(db), **changes)
        db.execute("UPDATE info SET body = ? WHERE id = 1", (json.dumps(to_plain(info)),))


def load(path: Path) -> Run:
    """Read a whole run, also while it is being written or after its process was killed.

    >>> load(Path("missing.db"))
    Traceback (most recent call last):
    torchmedic.store.RunFileError: missing.db: no such run file
    """
    path = locate(path)
    try:
        with contextlib.closing(_connect(path)) as db:
            _check_identity(db, path)
            return Run(info=_with_steps(_read_info(db), db, path), observations=tuple(_read_observations(db)))
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise RunFileError(f"{path}: not a readable run file ({error})") from None


def load_info(path: Path) -> RunInfo:
    """The frame of a run alone."""
    path = locate(path)
    try:
        with contextlib.closing(read_only(path)) as db:
            _check_identity(db, path)
            return _read_info(db)
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise RunFileError(f"{path}: not a readable run file ({error})") from None


def locate(path: Path) -> Path:
    """The run file meant by a path to it or to its run folder; of ranks the first one's, of runs the last one's."""
    if path.is_dir():
        of_rank = path / "rank0" / RUN_FILE
        inside = of_rank if of_rank.exists() else path / RUN_FILE
        if not inside.exists():
            runs = [folder for folder in path.iterdir() if folder.is_dir() and _is_run(folder)]
            if runs:
                return locate(max(runs))  # folders are named by the time
            raise RunFileError(f"{path}: no run file in this folder")
        return inside
    if not path.exists():
        raise RunFileError(f"{path}: no such run file")
    return path


def _is_run(folder: Path) -> bool:
    return (folder / RUN_FILE).exists() or (folder / "rank0" / RUN_FILE).exists()


def read_only(path: Path) -> sqlite3.Connection:
    """A connection for a reader of a run that may be going on: it can neither change the file nor wait for long."""
    if path.with_name(f"{path.name}-wal").exists():
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0, check_same_thread=False)
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=10.0, check_same_thread=False)


def _check_identity(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise RunFileError(f"{path}: a database, but not a torchmedic run file")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise RunFileError(f"{path}: written by a newer torchmedic (schema {version}, this one reads {SCHEMA_VERSION})")


def _read_info(db: sqlite3.Connection) -> RunInfo:
    body = db.execute("SELECT body FROM info").fetchone()[0]
    info: RunInfo = from_plain(RunInfo, json.loads(body))
    return info


def _with_steps(info: RunInfo, db: sqlite3.Connection, path: Path) -> RunInfo:
    """A process that was killed, or goes on, has not said how many steps it made; what it counted or sampled tells."""
    if info.ended:
        return info
    last = db.execute("SELECT max(step) FROM series").fetchone()[0] or 0
    with contextlib.suppress(OSError):
        last = max(last, int.from_bytes(_steps_file(path).read_bytes()[:8], sys.byteorder))
    return replace(info, steps=max(info.steps, last))


def _steps_file(path: Path) -> Path:
    return path.with_suffix(".steps")


def _shared_number(path: Path) -> memoryview | list[int]:
    """A number that lies in a file, but is written as memory is; where that cannot be, one that nobody reads."""
    import mmap

    try:
        with path.open("w+b") as file:
            file.write(bytes(8))  # room on the disk, which a mere length does not take
            file.flush()
            return memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
    except OSError:
        return [0]


def _read_observations(db: sqlite3.Connection) -> Iterator[Observation]:
    for kind, body in db.execute("SELECT kind, body FROM observations ORDER BY id"):
        found = observation_from_plain(kind, json.loads(body))
        if found is not None:
            yield found


def _insert(db: sqlite3.Connection, observations: Iterable[Observation]) -> None:
    rows = [(seen.kind, seen.step, json.dumps(to_plain(seen))) for seen in observations]
    db.executemany("INSERT INTO observations (kind, step, body) VALUES (?, ?, ?)", rows)


class Writer:
    """Writes observations from a background thread, so that the training step never waits for the disk."""

    FLUSH_SECONDS = 0.5

    def __init__(self, path: Path) -> None:
        self._path = path
        self._owner = os.getpid()
        self._waiting: queue.SimpleQueue[Observation | None] = queue.SimpleQueue()
        self._series: dict[tuple[str, int], float] = {}
        self._thinned: dict[str, int] = {}
        self._counted: memoryview | list[int] | None = None
        self._lock = threading.Lock()
        self._flushed = threading.Event()
        self._wake = threading.Event()
        self._closing = False
        self._ended = threading.Event()
        # Not a `threading.Thread`: the script may count and list its threads, and this one is none of them.
        _thread.start_new_thread(self._work, ())

    def write(self, observation: Observation) -> None:
        if os.getpid() == self._owner:
            self._waiting.put(observation)

    def sample(self, name: str, step: int, value: float) -> None:
        """Add a point to a sampled series."""
        with self._lock:
            self._series[name, step] = value

    def count(self, step: int) -> None:
        """Keep the number of steps where a process that is killed the next moment leaves it: in shared memory."""
        if self._counted is None:
            self._counted = _shared_number(_steps_file(self._path))
        self._counted[0] = step

    def thin(self, name: str, every: int) -> None:
        """Drop points of the series whose names begin with `name`, but for those at multiples of `every`."""
        with self._lock:
            self._thinned[name] = every

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything written so far is in the file."""
        if os.getpid() != self._owner or self._ended.is_set():
            return
        self._flushed.clear()
        self._waiting.put(None)
        self._wake.set()
        self._flushed.wait(timeout)

    def close(self) -> None:
        if os.getpid() != self._owner:
            return
        self._closing = True
        _steps_file(self._path).unlink(missing_ok=True)  # from here on the run file tells
        self.flush()
        self._ended.wait(timeout=10.0)

    def _work(self) -> None:
        try:
            self._await_file()
            with contextlib.closing(_connect(self._path)) as db:
                while not (self._closing and self._waiting.empty()):
                    self._wake.wait(self.FLUSH_SECONDS)
                    self._wake.clear()
                    self._drain(db)
        except sqlite3.Error as error:
            print(f"torchmedic: the run file cannot be written any more ({error})", file=sys.__stderr__)
        finally:
            self._ended.set()
            self._flushed.set()

    def _await_file(self) -> None:
        """The run file is made by the parent while this process starts; a parent that cannot removes the folder."""
        while not self._path.exists() and self._path.parent.exists():
            time.sleep(0.01)

    def _drain(self, db: sqlite3.Connection) -> None:
        batch: list[Observation] = []
        flush_asked = False
        while not self._waiting.empty():
            item = self._waiting.get()
            if item is None:
                flush_asked = True
            else:
                batch.append(item)
        with self._lock:
            points, self._series = self._series, {}
            thinned, self._thinned = self._thinned, {}
        if batch or points or thinned:
            with db:
                _insert(db, batch)
                db.executemany(
                    "INSERT OR REPLACE INTO series VALUES (?, ?, ?)",
                    [(name, step, value) for (name, step), value in points.items()],
                )
                db.executemany(
                    "DELETE FROM series WHERE name >= ?1 AND name < ?1 || char(0x10ffff) AND step % ?2 != 0",
                    list(thinned.items()),
                )
        if flush_asked:
            self._flushed.set()
