"""Tables on a cluster through Spark Connect: the same SQL text, for data that outgrow the machine."""

from __future__ import annotations

import itertools
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from torchmedic.checkups.data.engine import (
    LARGEST_DOUBLE,
    SAMPLE_ROWS,
    WHOLE_ROWS,
    Column,
    DuckTable,
    Table,
    Wanted,
    as_number,
    family_of,
    is_list_of_numbers,
)
from torchmedic.checkups.data.in_memory import registered
from torchmedic.checkups.data.options import DataError, MissingPackage, Options
from torchmedic.checkups.data.sources import Source
from torchmedic.facts import Cell

_numbers = itertools.count()
_SLICE_ABOVE = 2_000_000
_USUAL_PORT = 15002
_SECONDS_TO_ANSWER = 5
_READ = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".json": "json", ".jsonl": "json"}


class SparkTable:
    """A temporary view on the server. Rows have no numbers there, so cells are told by their text alone."""

    reads_once = False

    def __init__(self, name: str, session: Any, relation: str, columns: list[Column], local: Any) -> None:
        self.name = name
        self.columns = columns
        self.view = f"torchmedic_{os.getpid()}_{next(_numbers)}"
        self._session = session
        self._relation = relation
        self._local = local
        listed = ", ".join(f"{read} AS {sql}" for column in columns for read, sql in column.reads())
        session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {self.view} AS SELECT {listed} FROM {relation}").collect()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._session.sql(sql.replace("{t}", self.view)).collect()]

    def sample(self) -> tuple[Table, int | None]:
        """The closer looks are taken on this machine, by DuckDB."""
        count = int(self.query("SELECT count(*) FROM {t}")[0][0])
        frame = self._session.table(self.view)
        if count > WHOLE_ROWS:
            frame = frame.sample(SAMPLE_ROWS / count, 42)
        arrow = frame.toArrow()
        same = [column.copied() for column in self.columns]
        small = DuckTable(self.name, self._local, registered(self._local, arrow), same)
        return small, arrow.num_rows if count > WHOLE_ROWS else None

    def cells(self, column: Column, wanted: Wanted, most: int = 5) -> tuple[Cell, ...]:
        text = f"coalesce(CAST({column.raw or column.sql} AS STRING), '')"
        rows = self.query(f"SELECT {text} FROM {{t}} WHERE {wanted.sql(column)} ORDER BY 1 LIMIT {most}")
        return tuple(Cell(file=self.name, text=str(said)[:60]) for (said,) in rows)

    def hash_of(self, values: list[str]) -> str:
        """Spark's hashes pass over missing values, so these get a text of their own."""
        return "xxhash64(" + ", ".join(f"coalesce(CAST({value} AS STRING), '~')" for value in values) + ")"

    def repeated(self, hashed: str, rows: int) -> tuple[int, str]:
        """A sixteenth of a large table is asked first."""
        hashes = f"SELECT {hashed} AS h FROM {{t}}"
        slices = (" WHERE h % 16 = 0", "") if rows > _SLICE_ABOVE else ("",)
        again = 0
        for some in slices:
            groups = f"SELECT count(*) AS n FROM ({hashes}){some} GROUP BY h HAVING count(*) > 1"
            again = int(self.query(f"SELECT sum(n - 1) FROM ({groups})")[0][0] or 0)
            if not again:
                break
        return again, "true"

    def with_numbers(self, names: frozenset[str]) -> SparkTable:
        columns = [as_number(column) if column.name in names else column for column in self.columns]
        return SparkTable(self.name, self._session, self._relation, columns, self._local)

    def with_columns(self, columns: list[Column]) -> SparkTable:
        return SparkTable(self.name, self._session, self.view, columns, self._local)


@contextmanager
def spark_session(remote: str) -> Iterator[Any]:
    """A session on a Spark Connect server; only views of our own are made there."""
    address = remote or os.environ.get("SPARK_REMOTE", "")
    if not address:
        raise DataError("--engine spark needs --remote sc://HOST:15002, or SPARK_REMOTE")
    try:
        with warnings.catch_warnings():
            # What it says of the version of pandas is nothing that the user could act upon here.
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise MissingPackage("pyspark-client", "spark") from None
    _refuse_silent(address)
    _await_server(address)
    try:
        session = SparkSession.builder.remote(address).getOrCreate()
        session.sql("SELECT 1").collect()
    except Exception as error:  # noqa: BLE001 - a wrong address fails in many ways
        raise _unanswered(address, str(error).strip().partition("\n")[0][:160]) from None
    try:
        yield session
    finally:
        session.stop()


def _unanswered(address: str, said: str) -> DataError:
    return DataError(f"no Spark Connect server answers at {address}: {said}")


def _refuse_silent(address: str) -> None:
    """Try the way to the server once: the client by itself tries for ten minutes, without a word."""
    try:
        place = urlsplit(address)
        host, port = place.hostname, place.port or _USUAL_PORT
    except ValueError as error:
        raise _unanswered(address, str(error)) from None
    if place.scheme != "sc" or not host:
        raise _unanswered(address, "its address is written sc://HOST:15002")
    try:
        socket.create_connection((host, port), timeout=_SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise _unanswered(address, error.strerror or str(error)) from None


def _await_server(address: str) -> None:
    """Wait until what listens there speaks the protocol; a session that waits for that cannot be interrupted."""
    import grpc
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

    channel = DefaultChannelBuilder(address).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_SECONDS_TO_ANSWER)
    except grpc.FutureTimeoutError:
        raise _unanswered(address, "what listens there does not speak its protocol") from None
    finally:
        channel.close()


def spark_sources(targets: tuple[str, ...]) -> list[Source]:
    """Paths and tables as the server knows them: nothing is looked up on this machine."""
    return [Source(target, _format_of(target), (Path(target),)) for target in targets]


def _format_of(target: str) -> str:
    stem = target.removesuffix(".gz").removesuffix(".zst").rstrip("/*")
    return _READ.get(Path(stem).suffix.lower(), "table")


def open_spark(session: Any, source: Source, options: Options, local: Any) -> SparkTable:
    """A table over a path or a name that the server knows."""
    name = f"torchmedic_read_{os.getpid()}_{next(_numbers)}"
    if source.format == "table":
        frame = session.table(source.name)
    elif source.format == "csv":
        separator = "\t" if ".tsv" in source.name else ","
        reader = session.read.option("header", True).option("multiLine", True).option("sep", separator)
        frame = reader.option("escape", '"').csv(source.name)
    else:
        frame = session.read.format(source.format).load(source.name)
    (frame.where(options.where) if options.where else frame).createOrReplaceTempView(name)
    columns = [_column(i, field) for i, field in enumerate(frame.schema.fields)]
    if source.format == "csv":
        columns = _typed(session, name, columns)
    return SparkTable(source.name, session, name, columns, local)


def _column(position: int, field: Any) -> Column:
    quoted = "`" + field.name.replace("`", "``") + "`"
    kind = field.dataType.simpleString()
    family = family_of(kind)
    read = f"size({quoted})" if family == "list" else quoted
    found = Column(field.name, f"c{position}", kind, family, read)
    if family in ("list", "other"):
        found = replace(found, whole=f"{found.sql}_whole", whole_read=f"CAST({quoted} AS STRING)")
    if is_list_of_numbers(kind):
        bad = f"size(filter({quoted}, e -> e IS NULL OR NOT abs(CAST(e AS DOUBLE)) <= {LARGEST_DOUBLE}))"
        found = replace(found, bad=f"{found.sql}_bad", bad_read=bad)
    return found


def _typed(session: Any, view: str, columns: list[Column]) -> list[Column]:
    """Text that is all whole numbers as such, text that is all numbers likewise; dates stay text, as in DuckDB."""
    asked = ", ".join(
        f"count({c.read}), count(try_cast({c.read} AS BIGINT)), count(try_cast({c.read} AS DOUBLE))" for c in columns
    )
    counts = tuple(session.sql(f"SELECT {asked} FROM {view}").collect()[0])
    typed = []
    for i, column in enumerate(columns):
        present, whole, number = counts[3 * i : 3 * i + 3]
        kind = "BIGINT" if present and whole == present else "DOUBLE" if present and number == present else ""
        read = f"try_cast({column.read} AS {kind})" if kind else column.read
        typed.append(Column(column.name, column.sql, kind or column.type, family_of(kind or column.type), read))
    return typed
