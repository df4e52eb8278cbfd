"""Every bad place of the data as a table of its own, to drop or mend it by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.closer import impossible_days
from torchmedic.checkups.data.engine import ROW, Column, DuckTable, Table, Wanted, literal, quoted
from torchmedic.checkups.data.tables import Looked
from torchmedic.facts import Observation, SpreadByGroup, TableColumn

_COLUMNS = {
    "source": "VARCHAR",
    "row": "BIGINT",
    "column": "VARCHAR",
    "trouble": "VARCHAR",
    "value": "VARCHAR",
    "id": "VARCHAR",
    "group": "VARCHAR",
}
_AT_ONCE = 50_000


class RowList:
    """Collects source, row (counted from 0), column, trouble, value, id and group of every bad cell, item or file.

    Rows of a cluster have no numbers, and files of images none either: there `row` is null.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._waiting: list[tuple[Any, ...]] = []
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in _COLUMNS.items())
        connection.execute(f"CREATE TEMP TABLE bad_rows ({columns})")

    def note(self, source: str, row: int | None, column: str, trouble: str, value: str, key: str | None = None) -> None:
        """One bad place outside of tables."""
        self._keep((source, row, column, trouble, value, key, None))

    def _keep(self, bad: tuple[Any, ...]) -> None:
        self._waiting.append(bad)
        if len(self._waiting) >= _AT_ONCE:
            self._flush()

    def add(self, looked: Looked, facts: list[Observation]) -> None:
        """The bad cells that the facts about a table speak of."""
        columns = {column.name: column for column in looked.table.columns}
        for fact in facts:
            if isinstance(fact, TableColumn):
                column = columns[fact.column]
                for trouble, wanted in _wanted(fact):
                    self._insert(looked.table, column, trouble, wanted.sql(column), looked.roles.id)
                # The day that a text names is asked by functions of DuckDB alone.
                if fact.instants is not None and fact.instants.impossible and isinstance(looked.table, DuckTable):
                    self._insert(looked.table, column, "no-such-day", impossible_days(column), looked.roles.id)
            elif isinstance(fact, SpreadByGroup) and not fact.is_attribute:
                keys = ", ".join(literal(group.key) for group in (*fact.constant, *fact.near))
                if keys:
                    key = next(key for key in looked.roles.groups if key.name == fact.group)
                    condition = f"CAST({key.sql} AS STRING) IN ({keys})"
                    self._insert(looked.table, columns[fact.column], "flat-group", condition, looked.roles.id, key)

    def _insert(
        self,
        table: Table,
        column: Column,
        trouble: str,
        condition: str,
        key: Column | None,
        group: Column | None = None,
    ) -> None:
        value = f"CAST({column.raw or column.sql} AS STRING)"
        named = ", ".join(f"CAST({one.sql if one is not None else 'NULL'} AS STRING)" for one in (key, group))
        if not isinstance(table, DuckTable):
            for cells in table.query(f"SELECT {value}, {named} FROM {{t}} WHERE {condition}"):
                self._keep((table.name, None, column.name, trouble, *cells))
            return
        self._connection.execute(
            f"INSERT INTO bad_rows SELECT {literal(table.name)}, {ROW}, {literal(column.name)}, {literal(trouble)}, "
            f"{value}, {named} FROM ({table.numbered(table.columns)}) WHERE {condition}"
        )

    def _flush(self) -> None:
        if self._waiting:
            import pyarrow

            parts = [list(part) for part in zip(*self._waiting, strict=True)]
            self._connection.register("bad_batch", pyarrow.table(parts, names=list(_COLUMNS)))
            self._connection.execute("INSERT INTO bad_rows SELECT * FROM bad_batch")
            self._connection.unregister("bad_batch")
            self._waiting.clear()

    def write(self, path: Path) -> None:
        """Write the list as Parquet, or as CSV where the name says so."""
        self._flush()
        place = literal(str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            self._connection.execute(f"COPY bad_rows TO {place} (FORMAT csv, header)")
        else:
            # By this mark the list is known to be ours, and may be written anew.
            self._connection.execute(
                f"COPY bad_rows TO {place} (FORMAT parquet, KV_METADATA {{made_by: 'torchmedic'}})"
            )


def _wanted(fact: TableColumn) -> Iterator[tuple[str, Wanted]]:
    if fact.family == "number":
        for kind, count in (("missing", fact.nulls), ("nan", fact.nan), ("inf", fact.inf)):
            if count:
                yield kind, Wanted(kind)
    if fact.texts is not None:
        yield "text", Wanted("text")
    if fact.bad_lists:
        yield "bad-elements", Wanted("elements")
    if fact.lengths is not None and fact.lengths.cells:
        yield "other-length", Wanted("length", low=fact.lengths.common)
    for code in fact.stand_ins:
        yield "missing-code", Wanted("number", low=code.value)
    if fact.outliers is not None:
        reach = fact.outliers.cut
        yield "outlier", Wanted("outside", fact.outliers.median - reach, fact.outliers.median + reach)
