"""Reads the sampled series of a run file, thinned by the database so that a long run costs what a short one does."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from torchmedic.facts.series import LAYER_KINDS, LOSS, LOSS_HIGH, LOSS_LOW, Series
from torchmedic.store import RunFileError, locate, read_only

_NAMES = """
WITH RECURSIVE found(name) AS (
    SELECT (SELECT min(name) FROM series)
    UNION ALL SELECT (SELECT min(name) FROM series WHERE name > found.name) FROM found WHERE found.name IS NOT NULL)
SELECT name FROM found WHERE name IS NOT NULL
"""
_WHOLE = "SELECT step, value, value, value FROM series WHERE name = ? AND step BETWEEN ? AND ? ORDER BY step"
# Non-finite values are NULL in the table: a stretch that holds one is shown as one.
_GROUPED = """
SELECT max(step), CASE WHEN count(value) = count(*) THEN avg(value) END, min(value), max(value)
FROM series WHERE name = ?1 AND step BETWEEN ?2 AND ?3 GROUP BY (step - ?2) / ?4 ORDER BY 1
"""
# One look into the index for each stretch: the first row of it stands for all.
_PICKED = """
WITH RECURSIVE stretch(start) AS (SELECT ?2 UNION ALL SELECT start + ?4 FROM stretch WHERE start + ?4 <= ?3)
SELECT step, value, value, value FROM stretch JOIN series ON name = ?1 AND step = (
    SELECT min(step) FROM series WHERE name = ?1 AND step >= start AND step < start + ?4)
"""
_MOST_GROUPED = 200_000

Row = tuple[int, float | None, float | None, float | None]


def curves(path: Path, points: int = 1500) -> list[Series]:
    """The series that belong to the whole training (loss, learning rate, memory), each with at most so many points."""
    with _opened(path) as db:
        names = [name for name in _names(db) if not name.startswith(LAYER_KINDS)]
        found = {name: _series(db, name, points) for name in names}
    if LOSS in found:
        found[LOSS] = _with_ends(found[LOSS], found.pop(LOSS_LOW, None), found.pop(LOSS_HIGH, None))
    return list(found.values())


def layers(path: Path, columns: int = 240) -> list[Series]:
    """The series of each layer, looked up at no more than so many places each."""
    with _opened(path) as db:
        names = [name for name in _names(db) if name.startswith(LAYER_KINDS)]
        return [_series(db, name, columns, grouped=False) for name in names]


def count_facts(path: Path) -> int:
    """Changes when observations are added."""
    with _opened(path) as db:
        return int(db.execute("SELECT coalesce(max(id), 0) FROM observations").fetchone()[0])


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    path = locate(path)
    try:
        with contextlib.closing(read_only(path)) as db:
            yield db
    except sqlite3.Error as error:
        raise RunFileError(f"{path}: not a readable run file ({error})") from None


def _names(db: sqlite3.Connection) -> list[str]:
    return [str(name) for (name,) in db.execute(_NAMES)]


def _extent(db: sqlite3.Connection, name: str) -> tuple[int, int]:
    first = db.execute("SELECT min(step) FROM series WHERE name = ?", (name,)).fetchone()[0]
    last = db.execute("SELECT max(step) FROM series WHERE name = ?", (name,)).fetchone()[0]
    return int(first), int(last)


def _series(db: sqlite3.Connection, name: str, points: int, *, grouped: bool = True) -> Series:
    first, last = _extent(db, name)
    width = -(-(last - first + 1) // points)
    if width == 1:
        rows: list[Row] = db.execute(_WHOLE, (name, first, last)).fetchall()
    else:
        query = _GROUPED if grouped and last - first < _MOST_GROUPED else _PICKED
        rows = db.execute(query, (name, first, last, width)).fetchall()
    ends = any(low != high for _, _, low, high in rows)
    return Series(
        name=name,
        steps=tuple(row[0] for row in rows),
        values=tuple(row[1] for row in rows),
        low=tuple(row[2] for row in rows) if ends else (),
        high=tuple(row[3] for row in rows) if ends else (),
    )


def _with_ends(loss: Series, low: Series | None, high: Series | None) -> Series:
    """The loss with the lowest and highest values that its writer had joined into each mean."""
    lowest = dict(zip(low.steps, low.low or low.values, strict=True)) if low else {}
    highest = dict(zip(high.steps, high.high or high.values, strict=True)) if high else {}
    if not lowest:
        return loss
    given = loss.low or loss.values, loss.high or loss.values
    return Series(
        name=loss.name,
        steps=loss.steps,
        values=loss.values,
        low=tuple(_least(value, lowest.get(step)) for step, value in zip(loss.steps, given[0], strict=True)),
        high=tuple(_most(value, highest.get(step)) for step, value in zip(loss.steps, given[1], strict=True)),
    )


def _least(a: float | None, b: float | None) -> float | None:
    return min((value for value in (a, b) if value is not None), default=None)


def _most(a: float | None, b: float | None) -> float | None:
    return max((value for value in (a, b) if value is not None), default=None)
