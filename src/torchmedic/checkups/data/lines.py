"""Where a cell stands in a text file: its physical line, found by reading the file as a spreadsheet would."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from torchmedic.checkups.data.engine import Column, DuckTable, Wanted, literal
from torchmedic.facts import Cell

# Examples are worth a few seconds; the counts are exact without them.
_SECONDS = 8.0
_WIDEST = 100
_HEAD = 1 << 16
_RECORDS = 200
_MOSTLY = 0.8


@contextlib.contextmanager
def bytes_of(path: Path) -> Iterator[Any]:
    """A file of bytes, unpacked as it is read."""
    if path.suffix == ".gz":
        with gzip.open(path) as packed:
            yield packed
    elif path.suffix == ".zst":
        import pyarrow

        with pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd") as packed:
            yield packed
    else:
        with path.open("rb") as plain:
            yield plain


@contextlib.contextmanager
def text_of(path: Path, encoding: str = "utf-8-sig") -> Iterator[TextIO]:
    """A text file, unpacked as it is read."""
    with bytes_of(path) as file, io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="") as text:
        yield text


def first_lines(path: Path) -> list[str]:
    """Some lines from the beginning, whole ones only; a file may be one endless line, so characters are counted."""
    with text_of(path) as text:
        head = text.read(_HEAD)
    lines = head.splitlines()
    return (lines[:-1] if len(head) == _HEAD else lines)[:_RECORDS]


class CsvFinder:
    """Finds cells in CSV files, each with the dialect that the engine took it for.

    `names` are those that others know the files by: copies have the same lines. `meant` makes of a cell what was read.
    """

    def __init__(self, files: dict[Path, Dialect], names: dict[Path, Path], meant: Callable[[str], str] = str) -> None:
        self._files = files
        self._names = names
        self._meant = meant

    def __call__(self, table: DuckTable, column: Column, wanted: Wanted, most: int) -> tuple[Cell, ...]:
        found: list[Cell] = []
        until = time.monotonic() + _SECONDS
        for path, dialect in self._files.items():
            if column.name not in dialect.columns:
                continue
            # A file that cannot be read to its end has been told of already.
            with contextlib.suppress(OSError, EOFError, csv.Error):
                found += self._in_file(path, dialect, column.name, wanted, most - len(found), until)
            if len(found) >= most or time.monotonic() > until:
                break
        return tuple(found)

    def _in_file(
        self, path: Path, dialect: Dialect, column: str, wanted: Wanted, most: int, until: float
    ) -> list[Cell]:
        found: list[Cell] = []
        at, skip, name = list(dialect.columns).index(column), dialect.skip + dialect.header, self._names.get(path, path)
        csv.field_size_limit(sys.maxsize)
        with text_of(path) as text:
            reader = csv.reader(text, delimiter=dialect.delimiter)
            line = 1
            for number, record in enumerate(reader):
                if number >= skip and len(record) > at and wanted.holds(self._meant(record[at])):
                    shown = dialect.delimiter.join(record)
                    found.append(Cell(file=str(name), line=line, text=record[at][:60], source=_one_line(shown)))
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


def broken_line(files: tuple[Path, ...]) -> tuple[Path, int] | None:
    """The first line that is no JSON, of files with one record a line; the engine, in several threads, miscounts."""
    until = time.monotonic() + _SECONDS
    for path in files:
        with contextlib.suppress(OSError, EOFError), text_of(path) as text:
            for number, line in enumerate(text, start=1):
                if (number == 1 and line.lstrip().startswith("[")) or time.monotonic() > until:
                    break
                try:
                    json.loads(line or "0")
                except ValueError:
                    if line.strip():
                        return path, number
    return None


class ParquetFinder:
    """Finds cells in Parquet files, which know the number of each row."""

    def __call__(self, table: DuckTable, column: Column, wanted: Wanted, most: int) -> tuple[Cell, ...]:
        text = f"coalesce(CAST({column.raw or column.sql} AS VARCHAR), '')"
        reads = ", ".join(f"{read} AS {name}" for read, name in column.reads())
        kept = f" WHERE {table.where}" if table.where else ""
        inner = f"SELECT filename AS f, file_row_number AS r, {reads} FROM (SELECT * FROM {table.relation}{kept})"
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
    lines = first_lines(path) if path.is_file() else []
    mark = _mark_of(lines)
    known = {"quote": "'\"'", "escape": "'\"'"} | ({"delim": literal(mark)} if mark else {})
    found = _sniffed_in_spite(connection, path, known, lines)
    if not found.header and _begins_with_names(lines[found.skip :], found.delimiter):
        found = _sniffed(connection, path, known | {"header": str(True), "skip": str(found.skip)})
    return found


def dialects_of(connection: Any, files: tuple[Path, ...]) -> dict[Path, Dialect]:
    """How each file of a set is written: like the first one where it begins with the same names, else in its own way.

    Columns that the first file has are of its types. A file without names, as one that was cut off another, has those
    of the first.
    """
    first = dialect_of(connection, files[0])
    found = {files[0]: first}
    names = _names_in(files[0], first) if first.header and len(files) > 1 else []
    for path in files[1:]:
        found[path] = first
        if names and _names_in(path, first) != names:
            own = dialect_of(connection, path)
            if own.header:
                found[path] = replace(own, columns={n: first.columns.get(n, kind) for n, kind in own.columns.items()})
            elif len(own.columns) == len(first.columns):
                found[path] = replace(own, columns=first.columns)
    return found


def _names_in(path: Path, dialect: Dialect) -> list[str]:
    if not path.is_file() or len(dialect.delimiter) > 1:
        return []
    return next(csv.reader(first_lines(path)[dialect.skip :], delimiter=dialect.delimiter), [])


def _sniffed(connection: Any, path: Path, known: dict[str, str]) -> Dialect:
    told = ", ".join(f"{name}={value}" for name, value in known.items())
    asked = (
        "SELECT Delimiter, NewLineDelimiter, SkipRows, HasHeader, Columns "
        f"FROM sniff_csv({literal(str(path))}, {told}, "
        "auto_type_candidates=['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR'])"
    )
    delimiter, newline, skip, header, columns = connection.execute(asked).fetchall()[0]
    return Dialect(str(delimiter), str(newline), int(skip), bool(header), {c["name"]: c["type"] for c in columns})


def _sniffed_in_spite(connection: Any, path: Path, known: dict[str, str], lines: list[str]) -> Dialect:
    """The dialect, also where a line among the first ones has a cell too few or too many: the engine then gives up."""
    try:
        found, refusal = _sniffed(connection, path, known), None
    except Exception as error:  # noqa: BLE001 - the engine's own kinds; what a second look does not mend is raised
        found, refusal = None, error
    if found is None or len(found.columns) == 1:
        with contextlib.suppress(Exception):
            lenient = _sniffed(connection, path, known | {"ignore_errors": str(True)})
            if len(lenient.columns) > 1 and _mostly_divided(lines, lenient):
                return lenient
    if found is None:
        raise refusal or EOFError(path)
    return found


def _mostly_divided(lines: list[str], dialect: Dialect) -> bool:
    """Whether nearly all of the first lines have as many cells as there are columns: sentences have not."""
    if len(dialect.delimiter) > 1:
        return False
    records = list(csv.reader([line for line in lines[dialect.skip :] if line], delimiter=dialect.delimiter))
    return sum(len(record) == len(dialect.columns) for record in records) >= _MOSTLY * max(2, len(records))


def _begins_with_names(lines: list[str], delimiter: str) -> bool:
    """Whether the first line has words only, and lines of numbers follow: a second line of units hides that."""
    records = list(csv.reader(lines, delimiter=delimiter)) if len(delimiter) == 1 else []
    if len(records) < 10 or len(set(records[0])) < len(records[0]) or any(_is_number(cell) for cell in records[0]):
        return False
    return "" not in records[0] and all(any(_is_number(cell) for cell in record) for record in records[2:])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def stray_quote(path: Path, header: str) -> int | None:
    """The line at which a quote opens that is not closed before the end of its cell."""
    mark = max(",;\t|", key=header.count)
    if mark not in header:
        return None
    begun = 1
    csv.field_size_limit(sys.maxsize)
    with text_of(path) as text:
        reader = csv.reader(text, delimiter=mark, strict=True)
        try:
            for _ in reader:
                begun = reader.line_num + 1
        except csv.Error:
            return begun
    return None


def _mark_of(lines: list[str]) -> str | None:
    """The mark between cells where the header has no comma, and every line as many of another mark."""
    lines = [line for line in lines if line]
    if len(lines) < 2 or "," in lines[0] or '"' in "".join(lines):
        return None
    counts = {mark: {line.count(mark) for line in lines} for mark in (";", "\t", "|")}
    return next((mark for mark, found in counts.items() if len(found) == 1 and min(found) > 0), None)


def _one_line(text: str) -> str:
    line = " ".join(text.split("\n")).rstrip()
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"
