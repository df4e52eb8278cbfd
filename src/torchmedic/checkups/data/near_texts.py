"""Texts of the test part that are texts of the training part but for some words."""

from __future__ import annotations

import itertools

from torchmedic.checkups.data.engine import Column, DuckTable, Table
from torchmedic.facts import Cell, SharedBetween

_MOST_ROWS = 200_000
_LONG = 40
_WORDS, _LETTERS = 3, 6
_FEWEST_WORDS = 8
_MOST_LETTERS = 600
# Of the pieces of a text the smallest hashes stand for it: two texts share as many of them as they have in common.
_KEPT, _SHARED = 16, 8
_EVERYWHERE = 0.01
_numbers = itertools.count()


def reworded(
    table: Table, features: list[Column], sizes: tuple[int, int], parts: tuple[str, str]
) -> SharedBetween | None:
    """Test texts of which half the pieces are those of one training text.

    Where training texts have such twins among themselves nearly as often, all of them follow one pattern.
    """
    ahead, of = sizes
    column = _longest(table, features) if isinstance(table, DuckTable) and ahead + of <= _MOST_ROWS else None
    if column is None or not isinstance(table, DuckTable):
        return None
    train, test = (_pieces(table, part, column) for part in parts)
    usual = max(20, int(_EVERYWHERE * ahead))
    table.connection.execute(
        f"DELETE FROM {train} WHERE s IN (SELECT s FROM {train} GROUP BY s HAVING count(*) > {usual})"
    )
    shared = _with_twin(table, test, train)
    if not shared or shared / of <= 2 * _with_twin(table, train, train, "AND a.r <> b.r") / max(1, ahead):
        return None
    return SharedBetween(
        source=table.name,
        train="",
        test="",
        how="reworded",
        columns=(column.name,),
        shared=shared,
        of=of,
        cells=_examples(table, test, train),
    )


def _longest(table: DuckTable, features: list[Column]) -> Column | None:
    texts = [column for column in features if column.family == "text"]
    if not texts:
        return None
    head = ", ".join(f"avg(length({column.sql}))" for column in texts)
    lengths = table.query(f"SELECT {head} FROM (SELECT * FROM {{t}} LIMIT 1000)")[0]
    length, at = max((length or 0.0, i) for i, length in enumerate(lengths))
    return texts[at] if length >= _LONG else None


def _pieces(table: DuckTable, part: str, column: Column) -> str:
    """A table of the kept pieces, by number of the text."""
    name = f"w{next(_numbers)}"
    plain = f"regexp_replace(lower(left({column.sql}, {_MOST_LETTERS})), '[^\\p{{L}}\\p{{N}}]+', ' ', 'g')"
    hashes = (
        f"CASE WHEN len(w) >= {_FEWEST_WORDS} "
        f"THEN list_transform(range(1, len(w) - {_WORDS - 2}), lambda i: hash(list_slice(w, i, i + {_WORDS - 1}))) "
        f"ELSE list_transform(range(1, length(p) - {_LETTERS - 2}), lambda i: hash(substr(p, i, {_LETTERS}))) END"
    )
    numbered = f"SELECT row_number() OVER () AS r, {column.sql} AS t, {plain} AS p FROM ({part})"
    split = f"SELECT r, t, p, string_split(trim(p), ' ') AS w FROM ({numbered}) WHERE p IS NOT NULL"
    kept = f"list_slice(list_sort(list_distinct({hashes})), 1, {_KEPT})"
    made = f"SELECT r, t, unnest(k) AS s FROM (SELECT r, t, {kept} AS k FROM ({split})) WHERE len(k) = {_KEPT}"
    table.connection.execute(f"CREATE TEMP TABLE {name} AS {made}".replace("{t}", table.view))
    return name


def _pairs(left: str, right: str, apart: str = "") -> str:
    return (
        f"SELECT a.r AS x, b.r AS y, any_value(a.t) AS mine, any_value(b.t) AS other FROM {left} a JOIN {right} b "
        f"ON a.s = b.s {apart} GROUP BY a.r, b.r HAVING count(*) >= {_SHARED}"
    )


def _with_twin(table: DuckTable, left: str, right: str, apart: str = "") -> int:
    return int(table.query(f"SELECT count(DISTINCT x) FROM ({_pairs(left, right, apart)})")[0][0])


def _examples(table: DuckTable, test: str, train: str) -> tuple[Cell, ...]:
    rows = table.query(f"SELECT mine, other FROM ({_pairs(test, train)}) WHERE mine <> other ORDER BY x, y LIMIT 3")
    return tuple(Cell(text=_difference(str(mine), str(other))) for mine, other in rows)


def _difference(mine: str, other: str) -> str:
    """The place where two texts part."""
    at = next((i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other)))
    start = max(0, at - 16)
    return f"…{mine[start : at + 16]}… for …{other[start : at + 16]}…".replace("\n", " ")
