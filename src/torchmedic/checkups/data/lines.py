"""Where a cell stands in a text file: its physical line, found by reading the file as a spreadsheet would."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from torchmedic.checkups.data.engine import Column, DuckTable, Wanted, literal
from torchmedic.facts import Cell

# Examples are worth a few seconds; the counts are exact without them.
_SECONDS = 8.0
_WIDEST = 100


@contextlib.contextmanager
def text_of(path: Path) -> Iterator[TextIO]:
    """A text file, unpacked as it is read."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as packed:
            yield packed
    elif path.suffix == ".zst":
        import pyarrow

        stream = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
        with io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="") as packed:
            yield packed
    else:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as plain:
            yield plain


class CsvFinder:
    """Finds cells in CSV files; `dialect` is what the engine took the file for."""

    def __init__(self, files: tuple[Path, ...], dialect: Dialect) -> None:
        self._files = files
        self._delimiter = dialect.delimiter
        self._skip = dialect.skip + dialect.header

    def __call__(self, table: DuckTable, column: Column, wanted: Wanted, most: int) -> tuple[Cell, ...]:
        at = table.columns.index(column)
        found: list[Cell] = []
        until = time.monotonic() + _SECONDS
        for path in self._files:
            # A file that cannot be read to its end has been told of already.
            with contextlib.suppress(OSError, EOFError, csv.Error):
                found += self._in_file(path, at, wanted, most - len(found), until)
            if len(found) >= most or time.monotonic() > until:
                break
        return tuple(found)

    def _in_file(self, path: Path, at: int, wanted: Wanted, most: int, until: float) -> list[Cell]:
        found: list[Cell] = []
        csv.field_size_limit(sys.maxsize)
        with text_of(path) as text:
            reader = csv.reader((line.replace("\0", "") for line in text), delimiter=self._delimiter)
            line = 1
            for number, record in enumerate(reader):
                if number >= self._skip and len(record) > at and wanted.holds(record[at]):
                    shown = self._delimiter.join(record)
                    found.append(Cell(file=str(path), line=line, text=record[at][:60], source=_one_line(shown)))
                if len(found) >= most or (number % 10_000 == 0 and time.monotonic() > until):
                    break
                line = reader.line_num + 1
        return found


class JsonFinder:
    """Finds cells in files of JSON lines."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self._files = files

    def __call__(self, table: DuckTable, column: Column, wanted: Wanted, most: int) -> tuple[Cell, ...]:
        found: list[Cell] = []
        until = time.monotonic() + _SECONDS
        for path in self._files:
            with contextlib.suppress(OSError, EOFError), text_of(path) as text:
                for number, line in enumerate(text, start=1):
                    if len(found) >= most or time.monotonic() > until:
                        break
                    said = _json_cell(line, column.name)
                    if said is not None and wanted.holds(said):
                        found.append(Cell(file=str(path), line=number, text=said[:60], source=_one_line(line)))
        return tuple(found)


def _json_cell(line: str, name: str) -> str | None:
    """A field as text: empty where it is null or not there, None where the line is no object."""
    try:
        record: Any = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    value = record.get(name)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


class ParquetFinder:
    """Finds cells in Parquet files, which know the number of each row."""

    def __call__(self, table: DuckTable, column: Column, wanted: Wanted, most: int) -> tuple[Cell, ...]:
        text = f"coalesce(CAST({column.raw or column.sql} AS VARCHAR), '')"
        reads = ", ".join(f"{read} AS {name}" for read, name in column.reads())
        inner = f"SELECT filename AS f, file_row_number AS r, {reads} FROM {table.relation}"
        rows = table.connection.execute(
            f"SELECT f, r, {text} FROM ({inner}) WHERE {wanted.sql(column)} LIMIT {most}"
        ).fetchall()
        return tuple(Cell(file=file, row=int(row), text=str(said)[:60]) for file, row, said in rows)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written, as DuckDB sees it: its marks, where it begins, its columns and their types."""

    delimiter: str
    newline: str
    skip: int
    header: bool
    columns: dict[str, str]


def dialect_of(connection: Any, path: Path) -> Dialect:
    """Find out how a file is written. Dates stay text, or impossible days and written zones would be lost."""
    asked = (
        "SELECT Delimiter, NewLineDelimiter, SkipRows, HasHeader, Columns "
        f"FROM sniff_csv({literal(str(path))}, quote='\"', escape='\"', "
        "auto_type_candidates=['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR'])"
    )
    delimiter, newline, skip, header, columns = connection.execute(asked).fetchone()
    return Dialect(str(delimiter), str(newline), int(skip), bool(header), {c["name"]: c["type"] for c in columns})


def _one_line(text: str) -> str:
    line = " ".join(text.split("\n")).rstrip()
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"
