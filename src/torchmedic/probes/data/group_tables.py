"""Tables that two data sets keep: whose each row is, and whether the tables are parts of one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.rows import tokens

_MOST_ROWS = 500_000
_MOST_COLUMNS = 200
_LEAST_TOLD_APART = 8


@late_dataclass(frozen=True)
class OwnedTable:
    """The columns of a data set's table that may say whose a row is and what is asked; a number for each whole row."""

    attribute: str
    owners: dict[str, list[Hashable]]
    labels: dict[str, list[Hashable]]
    rows: frozenset[int]


def owned_table(dataset: Any, words: frozenset[str], beside: frozenset[str]) -> OwnedTable | None:
    """The table with a row for each sample, of which the data set hands a column out that it calls by name."""
    held = vars(dataset) if hasattr(dataset, "__dict__") else {}
    handed = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    if handed is None or not hasattr(dataset, "__len__"):
        return None
    read = {each for each in (*handed.co_consts, *handed.co_names) if isinstance(each, str)}
    for attribute, table in held.items():
        is_table = type(table).__name__ == "DataFrame" and len(table) == len(dataset) <= _MOST_ROWS
        if not is_table or not 2 < len(table.columns) <= _MOST_COLUMNS:
            continue
        columns = {name: table[name] for name in table.columns if isinstance(name, str)}
        whose = [n for n in columns if tokens(n) & words and tokens(n) <= words | beside]
        asked = [n for n in columns if n in read and n not in whose]
        rows = _numbered(table) if whose and asked else frozenset()
        # Without a further column, rows that are numbered alike cannot be told from those of another table.
        if len(rows) == len(table):
            owners, labels = ({n: columns[n].tolist() for n in names} for names in (whose, asked))
            return OwnedTable(attribute, owners, labels, rows)
    return None


def _numbered(table: Any) -> frozenset[int]:
    from pandas.util import hash_pandas_object

    try:
        return frozenset(hash_pandas_object(table, index=False).tolist())
    except (TypeError, ValueError):
        return frozenset()


def label_of_owners(first: OwnedTable, second: OwnedTable) -> tuple[str, str] | None:
    """The column that says whose a row is in two parts of one table, and the label that all rows of an owner have.

    Two tables that number their people anew do not agree about them, or have rows in common.
    """
    if first.rows & second.rows:
        return None
    for whose in (name for name in first.owners if name in second.owners):
        for asked in (name for name in first.labels if name in second.labels):
            pairs = [set(zip(each.owners[whose], each.labels[asked], strict=True)) for each in (first, second)]
            owners = {owner for owner, _ in pairs[0] | pairs[1]}
            classes = {label for _, label in pairs[0] | pairs[1]}
            in_both = {owner for owner, _ in pairs[0]} & {owner for owner, _ in pairs[1]}
            is_theirs = len(pairs[0] | pairs[1]) == len(owners)
            if is_theirs and 2 <= len(classes) <= len(owners) / 2 and len(in_both) >= _LEAST_TOLD_APART:
                return whose, asked
    return None
