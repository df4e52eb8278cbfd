"""Files as tables: CSV, Parquet, JSON lines, Arrow, SQLite and DuckDB files, and frames in memory."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.engine import Column, DuckTable, Table, Wanted, described, literal, quoted
from torchmedic.checkups.data.forms import (
    BLANKS,
    BOTH_MARKS,
    MIXED,
    ONE_POINT,
    as_utf8,
    columns_with_commas,
    divided_by_blanks,
    encoding_of,
    first_other_line,
    point_sql,
    with_point,
    with_tabs,
)
from torchmedic.checkups.data.in_memory import arrow_tables, from_arrow, needed_pyarrow, unique_names
from torchmedic.checkups.data.lines import (
    CsvFinder,
    Dialect,
    JsonFinder,
    ParquetFinder,
    broken_line,
    dialects_of,
    first_lines,
    stray_quote,
)
from torchmedic.checkups.data.options import DataError, Options
from torchmedic.checkups.data.packed import is_cut
from torchmedic.checkups.data.sources import Source
from torchmedic.facts import FileTrouble

_numbers = itertools.count()
_BATCH = 50_000
_MOST_SHOWN = 4
_CUT = "its packed part ends before its end; the rows until there were read"
_DELIMITERS = (";", "|", "\t", ",", "::", "^", "~", "#", "*", "!", "$", "¦", "§", "=", "\x01", "\x1e", "\x1f", " ")
# Bytes of no text; some that would be are used between cells.
_CONTROL = frozenset(range(32)) - set(b"\t\n\v\f\r\x1b\x01\x1e\x1f\x1a")
_MOST_CONTROL = 0.03


class Unreadable(Exception):
    """A source that is no table after all; says which trouble it is."""

    def __init__(self, trouble: str, detail: str, line: int | None = None) -> None:
        super().__init__(detail)
        self.trouble, self.detail, self.line = trouble, detail, line


@dataclass
class Opened:
    """A table with what was noticed on opening it. `again` opens it with some columns read as text."""

    table: Table
    troubles: list[FileTrouble] = field(default_factory=list)
    rejects: str = ""
    files: tuple[Path, ...] = ()
    names: dict[str, str] = field(default_factory=dict)

    def rejected(self) -> list[tuple[str, str, int, str, str]]:
        """What the reader of CSV could not place: file, kind, line, column, text of the line."""
        if not self.rejects or not isinstance(self.table, DuckTable):
            return []
        asked = (
            "SELECT s.file_path, CAST(e.error_type AS VARCHAR), e.line, coalesce(e.column_name, ''), "
            f"coalesce(e.csv_line, '') FROM {self.rejects}_errors e JOIN {self.rejects}_scans s "
            "ON e.scan_id = s.scan_id AND e.file_id = s.file_id ORDER BY 1, 3"
        )
        try:
            rows: list[tuple[str, str, int, str, str]] = self.table.connection.execute(asked).fetchall()
        except Exception:  # noqa: BLE001 - no scan was made, so there are no tables of rejects
            return []
        return list(dict.fromkeys((self.names.get(row[0], row[0]), *row[1:]) for row in rows))


def open_tables(
    connection: Any, source: Source, options: Options, as_text: frozenset[str] = frozenset()
) -> Iterator[Opened]:
    """The tables of a source: one, or as many as a database file holds."""
    if source.format == "csv":
        yield _csv(connection, source, options, as_text)
    elif source.format == "parquet":
        yield _parquet(connection, source, options)
    elif source.format == "jsonl":
        yield _jsonl(connection, source, options)
    elif source.format == "arrow":
        yield Opened(from_arrow(connection, source.name, arrow_tables(source.files), options))
    elif source.format == "sqlite":
        yield from _sqlite(connection, source, options)
    elif source.format == "duckdb":
        yield from _duckdb(connection, source, options)
    else:
        raise Unreadable("unreadable", "neither a table nor an array, image or graph by its name and first bytes")


def _listed(files: tuple[Path, ...]) -> str:
    return "[" + ", ".join(literal(str(path)) for path in files) + "]"


def _without_empty(source: Source) -> tuple[tuple[Path, ...], list[FileTrouble]]:
    troubles = [
        FileTrouble(source=str(path), trouble="empty", detail="0 bytes")
        for path in source.files
        if path.is_file() and path.stat().st_size == 0
    ]
    empty = {trouble.source for trouble in troubles}
    cut = (path for path in source.files if path.is_file() and str(path) not in empty and is_cut(path))
    troubles += [FileTrouble(source=str(path), trouble="truncated", detail=_CUT) for path in cut]
    return tuple(path for path in source.files if str(path) not in empty), troubles


def _csv(connection: Any, source: Source, options: Options, as_text: frozenset[str]) -> Opened:
    named, troubles = _without_empty(source)
    if not named:
        raise Unreadable("empty", "0 bytes")
    files, said = _readable(connection, named)
    troubles += said
    _refuse_binary(files[0])
    rejects = f"rejects{next(_numbers)}"
    dialects = dialects_of(connection, files)
    dialect = dialects[files[0]]
    troubles += _other_columns(dialects, dict(zip(files, named, strict=True)))
    commas = [list(dialect.columns)[i] for i in columns_with_commas(files[0], dialect.delimiter, dialect.skip + 1)]
    as_text |= {*commas}
    relation = _read_all(dialects, as_text, rejects)
    thousands = False
    if commas:
        raw = DuckTable(name=source.name, connection=connection, relation=relation, where=options.where)
        raw.finder = None if options.where else CsvFinder(dialects, dict(zip(files, named, strict=True)))
        thousands = _has_both_marks(raw, commas)
        troubles += _of_commas(raw, commas, thousands)
        listed = ", ".join(f"{point_sql(quoted(name), thousands)} AS {quoted(name)}" for name in commas)
        relation = f"(SELECT * REPLACE ({listed}) FROM {relation})"
    troubles += _other_mark(troubles, r"\s+" if files[0].name.endswith(BLANKS) else dialect.delimiter)
    table = DuckTable(
        name=source.name,
        connection=connection,
        relation=relation,
        where=options.where,
        reads_once=any(path.suffix in (".gz", ".zst") for path in files),
    )
    if len(table.columns) == 1:
        _refuse_stray_quote(files[0])
    if len(table.columns) == 1 and _is_divided(files[0]):
        troubles.append(FileTrouble(source=source.name, trouble="one-column", detail=table.columns[0].name[:60]))
    if not options.where:
        meant = functools.partial(with_point, thousands=thousands) if commas else str
        table.finder = CsvFinder(dialects, dict(zip(files, named, strict=True)), meant)
    names = {str(copy): str(path) for copy, path in zip(files, named, strict=True)}
    return Opened(table, troubles, rejects, named, names)


def _has_both_marks(table: DuckTable, names: list[str]) -> bool:
    """Whether a number has points between thousands and a decimal comma, which says what a point means."""
    columns = [column.sql for column in table.columns if column.name in names]
    met = " OR ".join(f"regexp_full_match({c}, '{BOTH_MARKS}')" for c in columns)
    return bool(table.query(f"SELECT count(*) FROM (SELECT 1 FROM {{t}} WHERE {met} LIMIT 1)")[0][0])


def _of_commas(table: DuckTable, names: list[str], thousands: bool) -> Iterator[FileTrouble]:
    """Columns with decimal commas, and the cells among them that have a point instead."""
    yield FileTrouble(source=table.name, trouble="decimal-commas", detail=", ".join(names), rows=int(thousands))
    for column in (column for column in table.columns if column.name in names and not thousands):
        c = column.sql
        odd = f"FROM {{t}} WHERE regexp_full_match({c}, '{ONE_POINT}')"
        count = int(table.query(f"SELECT count(*) {odd}")[0][0])
        if count:
            texts = table.query(f"SELECT {c} {odd} GROUP BY {c} ORDER BY count(*) DESC, {c} LIMIT {_MOST_SHOWN}")
            cells = [cell for (text,) in texts for cell in table.cells(column, Wanted("equal", text=text), 1)]
            yield FileTrouble(
                source=table.name, trouble="decimal-points", detail=column.name, rows=count, cells=tuple(cells)
            )


def _other_mark(troubles: list[FileTrouble], mark: str) -> list[FileTrouble]:
    """For files that have to be told how to be read: what stands between their cells, where it is no comma."""
    named = dict.fromkeys(seen.source for seen in troubles if seen.trouble in ("encoding", "decimal-commas"))
    return [FileTrouble(source=name, trouble="delimiter", detail=mark) for name in named if mark != ","]


def _read_all(dialects: dict[Path, Dialect], as_text: frozenset[str], rejects: str) -> str:
    """All files, those of one dialect together; columns are matched by their names, whatever their order."""
    alike: dict[object, list[Path]] = {}
    for path, dialect in dialects.items():
        # Dicts are equal in any order, files are not.
        marks = (dialect.delimiter, dialect.newline, dialect.skip, dialect.header)
        alike.setdefault((*marks, *dialect.columns.items()), []).append(path)
    reads = [_read_csv(dialects[paths[0]], paths, as_text, rejects) for paths in alike.values()]
    return reads[0] if len(reads) == 1 else "(FROM " + " UNION ALL BY NAME FROM ".join(reads) + ")"


def _read_csv(dialect: Dialect, files: list[Path], as_text: frozenset[str], rejects: str) -> str:
    """Told in full: a reader that has to find out does so at every query."""
    columns = {name: "VARCHAR" if name in as_text else kind for name, kind in dialect.columns.items()}
    typed = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items())
    return (
        f"read_csv({_listed(tuple(files))}, auto_detect=false, delim={literal(dialect.delimiter)}, quote='\"', "
        f"escape='\"', new_line={literal(dialect.newline)}, skip={dialect.skip}, header={str(dialect.header).lower()}, "
        f"columns={{{typed}}}, store_rejects=true, rejects_limit=2000, "
        f"rejects_table='{rejects}_errors', rejects_scan='{rejects}_scans')"
    )


def _other_columns(dialects: dict[Path, Dialect], names: dict[Path, Path]) -> Iterator[FileTrouble]:
    """Files of a set that lack columns of the first one, or have others."""
    first, *others = dialects
    usual = dialects[first].columns
    for path in others:
        own = dialects[path].columns
        if own.keys() != usual.keys():
            lost = [name for name in usual if name not in own]
            new = [name for name in own if name not in usual]
            told = [f"{word} {', '.join(some[:5])}" for word, some in (("without", lost), ("with", new)) if some]
            detail = f"{' and '.join(told)}, unlike {names[first].name}"
            yield FileTrouble(source=str(names[path]), trouble="other-columns", detail=detail)


def _readable(connection: Any, files: tuple[Path, ...]) -> tuple[tuple[Path, ...], list[FileTrouble]]:
    """The files as the engine can read them, copied beside its own scratch files where that is needed."""
    folder = Path(connection.execute("SELECT current_setting('temp_directory')").fetchall()[0][0])
    read, troubles = [], []
    for path in files:
        encoding = encoding_of(path) if path.is_file() else "utf-8"
        if encoding != "utf-8":
            line = first_other_line(path) if encoding.startswith(MIXED) else None
            kind = "encoding" if line is None else "mixed-encoding"
            other = encoding.removeprefix(MIXED)
            troubles.append(FileTrouble(source=str(path), trouble=kind, detail=other, line=line))
            read.append(as_utf8(path, encoding, folder))
        else:
            read.append(with_tabs(path, folder) if path.is_file() and divided_by_blanks(path) else path)
    return tuple(read), troubles


def _is_divided(path: Path) -> bool:
    """Whether a mark that the reader did not take for a delimiter stands equally often on each of the first lines."""
    lines = [line for line in first_lines(path) if line]
    counts = ({line.count(mark) for line in lines} for mark in _DELIMITERS)
    return len(lines) > 1 and any(len(found) == 1 and min(found) > 0 for found in counts)


def _refuse_stray_quote(path: Path) -> None:
    """A quote that opens and does not close hides the marks behind it."""
    line = stray_quote(path, (first_lines(path) or [""])[0])
    if line is not None:
        raise Unreadable("open-quote", "from there on marks and line ends belong to the cell, until a quote", line)


def _refuse_binary(path: Path) -> None:
    """A reader of text makes nonsense of other bytes; zeros or many control characters among them give them away."""
    if path.suffix in (".gz", ".zst"):
        return
    with path.open("rb") as file:
        head = file.read(65536)
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise Unreadable("unreadable", f"a zero byte on line {line}: not a text file, or a damaged one", line)
    strange = [byte for byte in head if byte in _CONTROL]
    if len(set(strange)) >= 3 and len(strange) > _MOST_CONTROL * len(head):
        raise Unreadable("unreadable", f"{len(strange)} control characters at its beginning: not a text file")


def _parquet(connection: Any, source: Source, options: Options) -> Opened:
    files, troubles = _without_empty(source)
    if not files:
        raise Unreadable("empty", "0 bytes")
    relation = f"read_parquet({_listed(files)}, union_by_name=true)"
    named = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    # The index that pandas saved is no column of the data.
    kept = [row for row in named if not row[0].startswith("__index_level_")]
    columns = [described(i, row[0], row[1]) for i, row in enumerate(kept)]
    table = DuckTable(
        name=source.name,
        connection=connection,
        relation=f"(SELECT *, filename, file_row_number FROM {relation})",
        where=options.where,
        columns=columns,
        finder=ParquetFinder(),
    )
    return Opened(table, troubles, files=files)


def _jsonl(connection: Any, source: Source, options: Options) -> Opened:
    files, troubles = _without_empty(source)
    if not files:
        raise Unreadable("empty", "0 bytes")
    relation = f"read_json({_listed(files)}, sample_size=-1, union_by_name=true"
    try:
        table = DuckTable(source.name, connection, relation + ")", where=options.where)
    except Exception as error:  # noqa: BLE001 - a broken line; the others are worth a look
        troubles.append(_broken(source, str(error).partition("\n")[0]))
        lenient = relation + ", ignore_errors=true, format='newline_delimited')"
        table = DuckTable(source.name, connection, _read_lines(connection, lenient), where=options.where)
    table.reads_once = any(path.suffix in (".gz", ".zst") for path in files)
    if not options.where:
        table.finder = JsonFinder(files)
    return Opened(table, troubles, files=files)


def _read_lines(connection: Any, relation: str) -> str:
    """The rows without those that a broken line leaves, in which everything is missing."""
    names = [quoted(row[0]) for row in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
    return f"(SELECT * FROM {relation} WHERE {' OR '.join(f'{name} IS NOT NULL' for name in names)})"


def _broken(source: Source, said: str) -> FileTrouble:
    found = re.search(r"line (\d+)", said)
    line = int(found.group(1)) if found else None
    name = source.name
    if (broken := broken_line(source.files)) is not None:
        name, line = str(broken[0]), broken[1]
        said = re.sub(r"\bline \d+", f"line {line}", said)
    return FileTrouble(source=name, trouble="broken-line", detail=said[:160], line=line)


def _sqlite(connection: Any, source: Source, options: Options) -> Iterator[Opened]:
    """Read by the standard library, which opens a file without writing to it, in batches that DuckDB keeps."""
    pyarrow = needed_pyarrow()
    for path in source.files:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            for name in _wanted(source, [name for (name,) in database.execute(listed).fetchall()]):
                copied = _copied(connection, database, name, pyarrow)
                if copied:
                    shown = f"{path}:{name}"
                    yield Opened(DuckTable(shown, connection, copied, where=options.where), files=(path,))


def _wanted(source: Source, names: list[str]) -> list[str]:
    """The table that was asked for, else all."""
    if source.table and source.table not in names:
        raise DataError(f"{source.name}: no such table; there are {', '.join(names[:8])}")
    return [source.table] if source.table else names


def _copied(connection: Any, database: sqlite3.Connection, name: str, pyarrow: Any) -> str:
    cursor = database.execute(f"SELECT * FROM {quoted(name)}")
    names = unique_names([entry[0] for entry in cursor.description])
    made = ""
    while rows := cursor.fetchmany(_BATCH):
        columns = [_sqlite_column(pyarrow, values) for values in zip(*rows, strict=True)]
        connection.register("batch", pyarrow.table(columns, names=names))
        if made:
            connection.execute(f"INSERT INTO {made} BY NAME SELECT * FROM batch")
        else:
            made = f"q{next(_numbers)}"
            connection.execute(f"CREATE TEMP TABLE {made} AS SELECT * FROM batch")
        connection.unregister("batch")
    return made


def _sqlite_column(pyarrow: Any, values: tuple[Any, ...]) -> Any:
    """SQLite lets a column hold anything: numbers stay numbers, a mixture becomes text."""
    try:
        column = pyarrow.array(values)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return pyarrow.array([None if value is None else str(value) for value in values], pyarrow.string())
    return column.cast(pyarrow.string()) if pyarrow.types.is_null(column.type) else column


def _duckdb(connection: Any, source: Source, options: Options) -> Iterator[Opened]:
    for path in source.files:
        base = f"d{next(_numbers)}"
        connection.execute(f"ATTACH {literal(str(path))} AS {base} (READ_ONLY)")
        asked = f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{base}' ORDER BY 1, 2"
        found = connection.execute(asked).fetchall()
        wanted = _wanted(source, [name for _, name in found])
        for schema, name in (pair for pair in found if pair[1] in wanted):
            relation = f"{base}.{quoted(schema)}.{quoted(name)}"
            yield Opened(DuckTable(f"{path}:{name}", connection, relation, where=options.where), files=(path,))


def check_columns(columns: list[Column], options: Options) -> None:
    """Refuse roles for columns that no table has."""
    names = {column.name for column in columns}
    keys = [key for name in options.group_by for key in ([name] if name in names else name.split(","))]
    for name in (*keys, options.label, options.id, options.time, options.split):
        if name and name not in names:
            shown = ", ".join(sorted(names)[:8])
            raise DataError(f"no column `{name}`; there are {shown}{', …' if len(names) > 8 else ''}")
