"""Tables behind one small interface: SQL over columns named c0, c1, …, so that one text runs on every engine."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from torchmedic.checkups.data.options import DataError, MissingPackage
from torchmedic.facts import Cell

# Closer looks (medians, heaps, agreement with the label) are taken on at most so many rows.
SAMPLE_ROWS = 1_000_000
LARGEST_DOUBLE = "1.7976931348623157e308"
_INTEGERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint")
_SPARK_INTEGERS = ("byte", "short", "int", "long")
_numbers = itertools.count()


@dataclass(frozen=True)
class Column:
    """A column: its name for people and in SQL, its type, the family that says how to look at it, how it is read.

    Numbers that were read from a column of text have that text in a second column of the view, `raw`.
    """

    name: str
    sql: str
    type: str
    family: str
    read: str = ""
    raw: str = ""
    raw_read: str = ""

    def names(self) -> list[str]:
        """Its columns in the view."""
        return [self.sql, self.raw] if self.raw else [self.sql]

    def reads(self) -> list[tuple[str, str]]:
        """How each of its columns in the view is read."""
        return [(self.read, self.sql), *([(self.raw_read, self.raw)] if self.raw else [])]

    def copied(self) -> Column:
        """The same column in a copy of the view."""
        return replace(self, read=self.sql, raw_read=self.raw)


@dataclass(frozen=True)
class Wanted:
    """A kind of cell to look for: missing, nan, inf, text (no number), outside (of low to high), or equal to a text."""

    kind: str
    low: float = 0.0
    high: float = 0.0
    text: str = ""

    def sql(self, column: Column) -> str:
        """The condition in SQL."""
        raw = column.raw or column.sql
        number = f"CAST({column.sql} AS DOUBLE)"
        return {
            "missing": f"{raw} IS NULL",
            "nan": f"isnan({number})",
            "inf": f"abs({number}) > {LARGEST_DOUBLE} AND NOT isnan({number})",
            "text": f"{raw} IS NOT NULL AND {column.sql} IS NULL",
            "outside": f"({number} < {self.low!r} OR {number} > {self.high!r}) AND abs({number}) <= {LARGEST_DOUBLE}",
            "equal": f"CAST({raw} AS STRING) = {literal(self.text)}",
        }[self.kind]

    def holds(self, said: str) -> bool:
        """Whether the text of a cell is one, as the engine would judge."""
        if self.kind in ("missing", "equal"):
            return said == self.text
        try:
            number = float(said) if said.isascii() and "_" not in said else None
        except ValueError:
            number = None
        if number is None:
            return self.kind == "text" and said != ""
        return {
            "nan": number != number,
            "inf": number in (float("inf"), float("-inf")),
            "outside": math.isfinite(number) and not self.low <= number <= self.high,
        }.get(self.kind, False)


class Table(Protocol):
    """What the checks need of a table. `{t}` in a query stands for it."""

    name: str
    columns: list[Column]
    reads_once: bool
    view: str

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def sample(self) -> tuple[Table, int | None]:
        """A table of at most SAMPLE_ROWS rows on this machine, and its size; None when it is the whole."""

    def cells(self, column: Column, wanted: Wanted, most: int = 5) -> tuple[Cell, ...]:
        """Where some of the wanted cells of a column are."""

    def hash_of(self, values: list[str]) -> str:
        """A number, in SQL, that rows with equal values share."""

    def with_numbers(self, names: frozenset[str]) -> Table:
        """The same table with columns of text read as numbers where they are numbers."""

    def with_columns(self, columns: list[Column]) -> Table:
        """A table over the view of this one."""


def family_of(kind: str) -> str:
    """float, integer, bool, time, list, text or other, from an engine's name of a type.

    >>> family_of("DECIMAL(18,3)"), family_of("UBIGINT"), family_of("INTEGER[]")
    ('float', 'integer', 'list')
    """
    word = kind.lower()
    if word.endswith("]") or word.startswith(("array", "list")):
        return "list"
    stem = word.partition("(")[0].partition(" ")[0]
    if stem in _INTEGERS or stem in _SPARK_INTEGERS:
        return "integer"
    if stem in ("double", "float", "real", "decimal"):
        return "float"
    if stem == "boolean":
        return "bool"
    if stem in ("timestamp", "date", "timestamp_ntz", "timestamp_s", "timestamp_ms", "timestamp_ns"):
        return "time"
    return "text" if stem in ("varchar", "string", "enum", "json", "uuid") else "other"


def literal(text: str) -> str:
    """A string in SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def threads() -> int:
    """How many cores this process may use: affinity, control group and SLURM all have a say."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(ValueError):
        allowed = min(allowed, int(os.environ.get("SLURM_CPUS_PER_TASK", allowed)))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        allowed = min(allowed, max(1, int(quota) // int(period)))
    return max(1, allowed)


def memory() -> int:
    """Bytes the engine may use: half of what the machine or the control group has free, 8 GiB at most."""
    import psutil

    free: int = psutil.virtual_memory().available
    with contextlib.suppress(OSError, ValueError):
        free = min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(256 << 20, min(free // 2, 8 << 30))


@contextlib.contextmanager
def connected(limit: str = "") -> Iterator[Any]:
    """A DuckDB connection that spills into a folder of its own, reads no settings and loads nothing from outside."""
    try:
        import duckdb
    except ImportError:
        raise MissingPackage("duckdb") from None
    with tempfile.TemporaryDirectory(prefix="torchmedic-") as spill:
        connection = duckdb.connect(":memory:")
        try:
            connection.execute(f"SET memory_limit = {literal(limit or f'{memory() >> 20}MiB')}")
        except duckdb.Error:
            raise DataError(f"no amount of memory: {limit}") from None
        connection.execute(f"SET temp_directory = {literal(spill)}")
        connection.execute(f"SET threads = {threads()}")
        connection.execute("SET autoinstall_known_extensions = false")
        # Counted for our own bar, not drawn: without it `query_progress` always says -1.
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        connection.execute("SET enable_object_cache = false; SET TimeZone = 'UTC'")
        try:
            yield connection
        finally:
            with contextlib.suppress(Exception):
                connection.close()


Finder = Callable[["DuckTable", Column, Wanted, int], tuple[Cell, ...]]


@dataclass
class DuckTable:
    """A view in DuckDB: what is read, renamed to c0, c1, …; `finder` knows lines of text files."""

    name: str
    connection: Any
    relation: str
    columns: list[Column] = field(default_factory=list)
    reads_once: bool = False
    finder: Finder | None = None
    view: str = ""

    def __post_init__(self) -> None:
        if not self.columns:
            self.columns = self._described()
        self.view = self.view or f"t{next(_numbers)}"
        listed = ", ".join(f"{read} AS {name}" for column in self.columns for read, name in column.reads())
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {self.view} AS SELECT {listed} FROM {self.relation}")

    def _described(self) -> list[Column]:
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {self.relation}").fetchall()
        return [described(i, row[0], row[1]) for i, row in enumerate(rows)]

    def with_numbers(self, names: frozenset[str]) -> DuckTable:
        columns = [as_number(column) if column.name in names else column for column in self.columns]
        return replace(self, columns=columns, view="")

    def with_columns(self, columns: list[Column]) -> DuckTable:
        return DuckTable(name=self.name, connection=self.connection, relation=self.view, columns=columns)

    def hash_of(self, values: list[str]) -> str:
        return f"hash({', '.join(values)})"

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.connection.execute(sql.replace("{t}", self.view)).fetchall()
        return rows

    def sample(self) -> tuple[Table, int | None]:
        """In memory and in order: closer looks read it many times."""
        name = f"s{next(_numbers)}"
        count = self.query("SELECT count(*) FROM {t}")[0][0]
        some = ""
        if count > SAMPLE_ROWS:
            some = f" USING SAMPLE {100 * SAMPLE_ROWS / count:.6f} PERCENT (bernoulli, 42)"
        self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {self.view}{some}")
        same = [column.copied() for column in self.columns]
        small: Table = DuckTable(name=self.name, connection=self.connection, relation=name, columns=same)
        if not some:
            return small, None
        return small, int(self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])

    def cells(self, column: Column, wanted: Wanted, most: int = 5) -> tuple[Cell, ...]:
        if self.finder is not None:
            return self.finder(self, column, wanted, most)
        text = f"coalesce(CAST({column.raw or column.sql} AS VARCHAR), '')"
        numbered = f"SELECT row_number() OVER () - 1 AS r, {', '.join(column.names())} FROM {self.view}"
        rows = self.query(f"SELECT r, {text} FROM ({numbered}) WHERE {wanted.sql(column)} LIMIT {most}")
        return tuple(Cell(file=self.name, row=int(row), text=str(said)[:60]) for row, said in rows)


def as_number(column: Column) -> Column:
    """A column of text as the numbers it holds, with the text beside them."""
    number = f"try_cast({column.read} AS DOUBLE)"
    return replace(column, family="float", read=number, raw=f"{column.sql}_raw", raw_read=column.read)


def described(position: int, name: str, kind: str) -> Column:
    """A column as DuckDB describes it. Lists are looked at by their length."""
    family = family_of(kind)
    read = f"len({quoted(name)})" if family == "list" else quoted(name)
    return Column(name, f"c{position}", kind, family, read)
