"""Every bad cell of the tables as a table of its own, to drop or mend them by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.engine import Column, DuckTable, Wanted, literal
from torchmedic.checkups.data.options import DataError
from torchmedic.checkups.data.tables import Looked
from torchmedic.facts import Observation, SpreadByGroup, TableColumn

_MADE = (
    'CREATE TEMP TABLE bad_rows ("source" VARCHAR, "row" BIGINT, "column" VARCHAR, "trouble" VARCHAR, "value" VARCHAR)'
)


class RowList:
    """Collects source, row (counted from 0), column, trouble and value of every bad cell."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        connection.execute(_MADE)

    def add(self, looked: Looked, facts: list[Observation]) -> None:
        """The bad cells that the facts about a table speak of."""
        table = looked.table
        if not isinstance(table, DuckTable):
            raise DataError("--rows lists rows by number, which a table on a cluster does not have")
        columns = {column.name: column for column in table.columns}
        for fact in facts:
            if isinstance(fact, TableColumn):
                for trouble, wanted in _wanted(fact):
                    self._insert(table, columns[fact.column], trouble, wanted.sql(columns[fact.column]))
            elif isinstance(fact, SpreadByGroup):
                keys = ", ".join(literal(group.key) for group in (*fact.constant, *fact.near))
                if keys:
                    key = columns[fact.group]
                    self._insert(table, key, "flat-group", f"CAST({key.sql} AS VARCHAR) IN ({keys})")

    def _insert(self, table: DuckTable, column: Column, trouble: str, condition: str) -> None:
        numbered = f"SELECT row_number() OVER () - 1 AS r, {', '.join(column.names())} FROM {table.view}"
        self._connection.execute(
            f"INSERT INTO bad_rows SELECT {literal(table.name)}, r, {literal(column.name)}, {literal(trouble)}, "
            f"CAST({column.raw or column.sql} AS VARCHAR) FROM ({numbered}) WHERE {condition}"
        )

    def write(self, path: Path) -> None:
        """Write the list as Parquet, or as CSV where the name says so."""
        form = "csv, header" if path.suffix == ".csv" else "parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection.execute(f"COPY bad_rows TO {literal(str(path))} (FORMAT {form})")


def _wanted(fact: TableColumn) -> Iterator[tuple[str, Wanted]]:
    if fact.family == "number":
        for kind, count in (("missing", fact.nulls), ("nan", fact.nan), ("inf", fact.inf)):
            if count:
                yield kind, Wanted(kind)
    if fact.texts is not None:
        yield "text", Wanted("text")
    if fact.outliers is not None:
        reach = fact.outliers.cut
        yield "outlier", Wanted("outside", fact.outliers.median - reach, fact.outliers.median + reach)
