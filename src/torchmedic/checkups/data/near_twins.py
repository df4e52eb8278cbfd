"""Rows of the test part that are rows of the training part but for a few columns: copies with a cell changed."""

from __future__ import annotations

from collections.abc import Callable

from torchmedic.checkups.data.engine import Column, Table
from torchmedic.facts import Cell, SharedBetween

# Every third column is left out in turn: a row that was changed in one column agrees in one of the three others.
_TURNS = 3
_FEWEST_COLUMNS = 6
_MOST_ROWS = 2_000_000
_EXAMPLES = 3

Hashed = Callable[[list[Column]], str]
Chance = Callable[[list[Column]], float]


def changed_copies(
    table: Table, features: list[Column], sizes: tuple[int, int], parts: tuple[str, str], hashed: Hashed, chance: Chance
) -> SharedBetween | None:
    """Rows that agree with one of the other part in two thirds of the columns.

    Rows that come in families (many measurements of one person) do so among themselves: where the training rows have
    such twins nearly as often as the test rows, nothing was copied.
    """
    ahead, of = sizes
    if len(features) < _FEWEST_COLUMNS or ahead + of > _MOST_ROWS:
        return None
    kept = [[c for i, c in enumerate(features) if i % _TURNS != turn] for turn in range(_TURNS)]
    hashes = [hashed(columns) for columns in kept]
    left, right = (f"SELECT {_named(hashes)} FROM ({part})" for part in parts)
    met = " OR ".join(f"h{i} IN (SELECT h{i} FROM ({left}))" for i in range(_TURNS))
    shared = int(table.query(f"SELECT count(*) FROM ({right}) WHERE {met}")[0][0])
    if not shared or shared / of <= 2 * _among_themselves(table, left, ahead):
        return None
    return SharedBetween(
        source=table.name,
        train="",
        test="",
        how="changed",
        columns=tuple(column.name for column in features),
        shared=shared,
        of=of,
        by_chance=sum(min(1.0, chance(columns) * ahead) * of for columns in kept),
        cells=_examples(table, features, parts, hashes),
    )


def _named(hashes: list[str]) -> str:
    return ", ".join(f"{sql} AS h{i}" for i, sql in enumerate(hashes))


def _among_themselves(table: Table, left: str, ahead: int) -> float:
    """The share of training rows with a twin in the training part."""
    counts = [
        table.query(f"SELECT sum(n) FROM (SELECT count(*) AS n FROM ({left}) GROUP BY h{i} HAVING count(*) > 1)")
        for i in range(_TURNS)
    ]
    return sum(int(rows[0][0] or 0) for rows in counts) / max(1, ahead)


def _examples(table: Table, features: list[Column], parts: tuple[str, str], hashes: list[str]) -> tuple[Cell, ...]:
    """Some pairs, told by the columns in which they differ."""
    width = len(features)
    found: list[Cell] = []
    for sql in hashes:
        listed = ", ".join(f"{side}.{c.sql} AS {side}{i}" for side in "lr" for i, c in enumerate(features))
        left, right = (f"SELECT *, {sql} AS h FROM ({part})" for part in parts)
        asked = f"SELECT {listed} FROM ({left}) l JOIN ({right}) r ON l.h = r.h ORDER BY l.h LIMIT {_EXAMPLES}"
        for row in table.query(asked):
            pairs = zip(features, row[:width], row[width:], strict=True)
            told = [f"{column.name} ({_short(a)}, {_short(b)})" for column, a, b in pairs if a != b]
            found += [Cell(text="equal but for " + ", ".join(told[:3]))] if told else []
    return tuple(dict.fromkeys(found))[:_EXAMPLES]


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else text[:23] + "…"
