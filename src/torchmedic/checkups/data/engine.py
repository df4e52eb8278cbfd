"""Tables behind one small interface: SQL over columns named c0, c1, …, so that one text runs on every engine."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from torchmedic.checkups.data.limits import amount, engine_limit, memory, room_for_hashes, threads
from torchmedic.checkups.data.options import MissingPackage
from torchmedic.facts import Cell

# Closer looks (medians, heaps, agreement with the label) are taken on the whole table up to so many rows, else on some.
WHOLE_ROWS = 250_000
SAMPLE_ROWS = 100_000
LARGEST_DOUBLE = "1.7976931348623157e308"
_INTEGERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint")
_SPARK_INTEGERS = ("byte", "short", "int", "long")
_numbers = itertools.count()
# The number of a row beside the columns of the user, none of which has such a name.
ROW = "torchmedic_row"


@dataclass(frozen=True)
class Column:
    """A column: its name for people and in SQL, its type, the family that says how to look at it, how it is read.

    Numbers that were read from a column of text have that text in a second column of the view, `raw`. Lists, which are
    looked at by their length, and what else is no single value have one that equal contents share, `whole`; lists of
    numbers have the count of their missing and non-finite elements in `bad`.
    """

    name: str
    sql: str
    type: str
    family: str
    read: str = ""
    raw: str = ""
    raw_read: str = ""
    whole: str = ""
    whole_read: str = ""
    bad: str = ""
    bad_read: str = ""

    @property
    def compared(self) -> str:
        """Its column in the view that is equal where its contents are."""
        return self.whole or self.sql

    def names(self) -> list[str]:
        """Its columns in the view."""
        return [name for _, name in self.reads()]

    def reads(self) -> list[tuple[str, str]]:
        """How each of its columns in the view is read."""
        beside = ((self.raw_read, self.raw), (self.whole_read, self.whole), (self.bad_read, self.bad))
        return [(self.read, self.sql), *((read, name) for read, name in beside if name)]

    def copied(self) -> Column:
        """The same column in a copy of the view."""
        return replace(self, read=self.sql, raw_read=self.raw, whole_read=self.whole, bad_read=self.bad)


@dataclass(frozen=True)
class Wanted:
    """A kind of cell.

    missing, nan, inf, text (no number), outside (of low to high), number (low), equal to a text; of lists length (not
    low) and elements (some missing or not finite).
    """

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
            "number": f"{number} = {self.low!r}",
            "equal": f"CAST({raw} AS STRING) = {literal(self.text)}",
            "length": f"{column.sql} <> {self.low:.0f}",
            "elements": f"{column.bad} > 0",
        }[self.kind]

    def holds(self, said: str) -> bool:
        """Whether the text of a cell is one, as the engine would judge."""
        if self.kind in ("missing", "equal"):
            return said == self.text
        if self.kind in ("length", "elements"):
            return self._holds_list(said)
        try:
            number = float(said) if said.isascii() and "_" not in said else None
        except ValueError:
            number = None
        if number is None:
            return self.kind == "text" and said != ""
        return {
            "nan": number != number,
            "inf": number in (float("inf"), float("-inf")),
            "number": number == self.low,
            "outside": math.isfinite(number) and not self.low <= number <= self.high,
        }.get(self.kind, False)

    def _holds_list(self, said: str) -> bool:
        """The same of a list as JSON writes it."""
        try:
            elements = json.loads(said)
        except ValueError:
            return False
        if not isinstance(elements, list):
            return False
        if self.kind == "length":
            return len(elements) != self.low
        return any(one is None or (isinstance(one, float) and not math.isfinite(one)) for one in elements)


class Table(Protocol):
    """What the checks need of a table. `{t}` in a query stands for it."""

    name: str
    columns: list[Column]
    reads_once: bool
    view: str

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def sample(self) -> tuple[Table, int | None]:
        """A table of at most WHOLE_ROWS rows on this machine, and its size; None when it is the whole."""

    def cells(self, column: Column, wanted: Wanted, most: int = 5) -> tuple[Cell, ...]:
        """Where some of the wanted cells of a column are."""

    def hash_of(self, values: list[str]) -> str:
        """A number, in SQL, that rows with equal values share."""

    def repeated(self, hashed: str, rows: int) -> tuple[int, str]:
        """How many rows are there again by their hash, and a condition on that hash, `h`, to look for some of them."""

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


@contextlib.contextmanager
def connected(limit: str = "") -> Iterator[Any]:
    """A DuckDB connection that spills into a folder of its own, reads no settings and loads nothing from outside."""
    try:
        import duckdb
    except ImportError:
        raise MissingPackage("duckdb") from None
    allowed = amount(limit) if limit else memory()
    with tempfile.TemporaryDirectory(prefix="torchmedic-") as spill:
        connection = duckdb.connect(":memory:")
        connection.execute(f"SET memory_limit = '{engine_limit(allowed) >> 20}MiB'")
        connection.execute(f"SET VARIABLE room_for_hashes = {room_for_hashes(allowed)}")
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
    """A view in DuckDB: what is read, renamed to c0, c1, …; `finder` knows lines of text files.

    `where` is the condition under which a row of the relation belongs to it.
    """

    name: str
    connection: Any
    relation: str
    columns: list[Column] = field(default_factory=list)
    reads_once: bool = False
    finder: Finder | None = None
    view: str = ""
    where: str = ""

    def __post_init__(self) -> None:
        if not self.columns:
            self.columns = self._described()
        if self.view:
            return
        self.view = f"t{next(_numbers)}"
        listed = ", ".join(f"{read} AS {name}" for column in self.columns for read, name in column.reads())
        kept = f" WHERE {self.where}" if self.where else ""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {self.view} AS SELECT {listed} FROM (SELECT * FROM {self.relation}{kept})"
        )

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

    def repeated(self, hashed: str, rows: int) -> tuple[int, str]:
        from torchmedic.checkups.data.hashes import repeated_hashes

        room = self.connection.execute("SELECT getvariable('room_for_hashes')").fetchall()[0][0]
        asked = f"SELECT {hashed} AS h FROM {self.view}"
        again, found = repeated_hashes(self.connection, asked, rows, room)
        if not again:
            return 0, "false"
        kept = f"h{next(_numbers)}"
        self.connection.execute(f"CREATE TEMP TABLE {kept} (h UBIGINT)")
        self.connection.execute(f"INSERT INTO {kept} SELECT unnest($1)", [found.tolist()])
        return again, f"h IN (SELECT h FROM {kept})"

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.connection.execute(sql.replace("{t}", self.view)).fetchall()
        return rows

    def sample(self) -> tuple[Table, int | None]:
        """In memory and in order: closer looks read it many times."""
        name = f"s{next(_numbers)}"
        count = self.query("SELECT count(*) FROM {t}")[0][0]
        some = ""
        if count > WHOLE_ROWS:
            some = f" USING SAMPLE {100 * SAMPLE_ROWS / count:.6f} PERCENT (bernoulli, 42)"
        self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {self.view}{some}")
        same = [column.copied() for column in self.columns]
        # Not a view of it: the engine would bind all columns at each query, which takes long where there are thousands.
        small: Table = DuckTable(self.name, self.connection, relation=name, columns=same, view=name)
        if not some:
            return small, None
        return small, int(self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])

    def numbered(self, columns: list[Column]) -> str:
        """Columns of the view beside the number of each row, counted from 0 before any filter."""
        listed = ", ".join(f"{read} AS {name}" for column in columns for read, name in column.reads())
        if not self.where:
            names = ", ".join(name for column in columns for name in column.names())
            return f"SELECT row_number() OVER () - 1 AS {ROW}, {names} FROM {self.view}"
        counted = f"SELECT *, row_number() OVER () - 1 AS {ROW} FROM {self.relation}"
        return f"SELECT {ROW}, {listed} FROM (SELECT * FROM ({counted}) WHERE {self.where})"

    def cells(self, column: Column, wanted: Wanted, most: int = 5) -> tuple[Cell, ...]:
        if self.finder is not None:
            return self.finder(self, column, wanted, most)
        text = f"coalesce(CAST({column.raw or column.sql} AS VARCHAR), '')"
        rows = self.query(
            f"SELECT {ROW}, {text} FROM ({self.numbered([column])}) WHERE {wanted.sql(column)} LIMIT {most}"
        )
        return tuple(Cell(file=self.name, row=int(row), text=str(said)[:60]) for row, said in rows)


def as_number(column: Column) -> Column:
    """A column of text as the numbers it holds, with the text beside them."""
    number = f"try_cast({column.read} AS DOUBLE)"
    return replace(column, family="float", read=number, raw=f"{column.sql}_raw", raw_read=column.read)


def described(position: int, name: str, kind: str) -> Column:
    """A column as DuckDB describes it. Lists are looked at by their length, mixed values of JSON as text."""
    family, column = family_of(kind), quoted(name)
    read = f"len({column})" if family == "list" else f"({column} ->> '$')" if kind == "JSON" else column
    found = Column(name, f"c{position}", kind, family, read)
    if family in ("list", "other"):
        # With the length: an empty list has the hash of one that holds a missing element.
        parts = f"{column}, len({column})" if family == "list" else column
        found = replace(found, whole=f"{found.sql}_whole", whole_read=f"hash({parts})")
    if is_list_of_numbers(kind):
        bad = f"len(list_filter({column}, lambda e: e IS NULL OR NOT isfinite(CAST(e AS DOUBLE))))"
        found = replace(found, bad=f"{found.sql}_bad", bad_read=bad)
    return found


def is_list_of_numbers(kind: str) -> bool:
    """Whether an engine's name of a type says so.

    >>> is_list_of_numbers("FLOAT[3]"), is_list_of_numbers("array<double>"), is_list_of_numbers("VARCHAR[]")
    (True, True, False)
    """
    within = kind.lower().removeprefix("array<").removesuffix(">")
    within = within.rpartition("[")[0] if within.endswith("]") else within
    return family_of(kind) == "list" and family_of(within) in ("float", "integer")
