"""Notes which data files a script reads, by whichever library."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from torchmedic.checkups.data.sources import by_name
from torchmedic.facts import FileRead
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_MOST_FILES = 20_000
# Readers that open files in native code, where no event tells of it, or whose word makes a table of any file.
_READERS = {
    "pandas": ("read_csv", "read_table", "read_parquet", "read_feather", "read_json"),
    "polars": (
        "read_csv", "scan_csv", "read_parquet", "scan_parquet", "read_ipc", "scan_ipc", "read_ndjson", "scan_ndjson",
        "read_json",
    ),
    "pyarrow": ("memory_map",),
    "pyarrow.csv": ("read_csv", "open_csv"),
    "pyarrow.json": ("read_json",),
    "pyarrow.parquet": ("read_table", "read_pandas"),
    "pyarrow.parquet.core": ("ParquetFile.__init__",),
    "pyarrow.feather": ("read_feather", "read_table"),
    "pyarrow.dataset": ("dataset",),
    "safetensors.torch": ("load_file",),
    "duckdb": (
        "connect", "read_csv", "read_parquet", "read_json", "sql", "query", "execute",
        "DuckDBPyConnection.sql", "DuckDBPyConnection.query", "DuckDBPyConnection.execute",
        "DuckDBPyConnection.read_csv", "DuckDBPyConnection.read_parquet", "DuckDBPyConnection.read_json",
    ),
}  # fmt: skip
_IN_SQL = ("sql", "query", "execute")
_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")


class Readings(Probe):
    """Listens to every file that Python opens and to the readers that open theirs elsewhere.

    For a run that is made to be listened to: its output goes nowhere, and it ends at the first step of a training.
    """

    name = "readings"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._seen: set[str] = set()
        self._listening = True
        self._waiting: list[AfterImport | None] = []
        self._note = shielded(self)(self._note_path)
        sys.addaudithook(self._on_event)
        for module, names in _READERS.items():
            self._waiting.append(wait_for_import(module, functools.partial(self._wrap_all, module, names)))

    def remove(self) -> None:
        self._listening = False  # an audit hook cannot be taken out, only told to be quiet
        self._patches.restore()
        for finder in self._waiting:
            stop_waiting(finder)

    def on_step_done(self, optimizer: Any) -> None:
        """Training has begun: what is read from here on is read again and again."""
        if self.recorder.settings.purpose == "reading":
            self.recorder.flush()
            os._exit(0)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "sqlite3.connect") or not self._listening:
            return
        path = arguments[0]
        if not isinstance(path, (str, os.PathLike)) or (event == "open" and not _is_reading(*arguments[1:3])):
            return
        kind = by_name(os.fspath(path)) if isinstance(os.fspath(path), str) else None
        # A file of JSON that is opened by hand is a configuration as a rule.
        if kind is not None and not (kind == "jsonl" and str(path).endswith(".json")):
            self._note(os.fspath(path), "open" if event == "open" else "sqlite3.connect")

    def _note_path(self, path: str, reader: str) -> None:
        whole = os.path.abspath(path)
        if whole in self._seen or len(self._seen) >= _MOST_FILES or whole.startswith(sys.prefix + os.sep):
            return
        where = user_location(sys._getframe(1))
        if where is not None:
            self._seen.add(whole)
            self.recorder.observe(FileRead(path=whole, reader=reader, where=where))

    def _wrap_all(self, module: str, names: tuple[str, ...]) -> None:
        for name in names:
            owner, leaf = sys.modules[module], name
            if "." in name:
                owner, leaf = getattr(owner, name.partition(".")[0], None), name.partition(".")[2]  # type: ignore[assignment]
            if hasattr(owner, leaf):
                self._wrap(owner, leaf, f"{module}.{leaf}", is_method="." in name)

    def _wrap(self, owner: Any, name: str, reader: str, *, is_method: bool) -> None:
        original: Callable[..., Any] = getattr(owner, name)
        note = shielded(self)(self._note_arguments)

        @functools.wraps(original)
        def read(*args: Any, **kwargs: Any) -> Any:
            given = args[1:] if is_method else args
            note(reader, given[0] if given else next(iter(kwargs.values()), None))
            with frame_hidden:
                return original(*args, **kwargs)

        self._patches.replace(owner, name, read)

    def _note_arguments(self, reader: str, first: Any) -> None:
        word = reader.rpartition(".")[2]
        for path in _in_sql(first) if word in _IN_SQL and reader.startswith("duckdb") else _paths(first):
            if "://" not in path and path != ":memory:":
                self._note_path(path, reader)


def _is_reading(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return not any(letter in mode for letter in "wax")
    return isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_CREAT)


def _paths(given: Any) -> Iterator[str]:
    if isinstance(given, (list, tuple)):
        for one in given[:_MOST_FILES]:
            yield from _paths(one)
    elif isinstance(given, (str, os.PathLike)) and isinstance(os.fspath(given), str):
        yield str(os.fspath(given))


def _in_sql(statement: Any) -> Iterator[str]:
    """Files that a statement of SQL names: DuckDB reads `FROM 'labs.csv'`."""
    if isinstance(statement, str):
        for single, double in _QUOTED.findall(statement):
            if by_name(single or double) is not None:
                yield single or double
