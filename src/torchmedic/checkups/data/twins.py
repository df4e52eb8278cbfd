"""Rows that are there twice: within a table, with another label, and between the parts of a split."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from torchmedic.checkups.data.days import sortable
from torchmedic.checkups.data.engine import Column, Table, literal
from torchmedic.checkups.data.guessing import Roles
from torchmedic.checkups.data.near_texts import reworded
from torchmedic.checkups.data.near_twins import changed_copies
from torchmedic.checkups.data.options import DataError
from torchmedic.facts import Cell, Observation, RepeatedRows, SharedBetween, SplitInTime

_MOST_CONFLICTING = 2_000_000
_CHANCE_COLUMNS = 50
_NEVER = 1e-12
# Texts from this length on, most of which are there once: nobody writes such a text twice by chance.
_PROSE = 20
_HELD_OUT = re.compile(r"test|val|dev|hold|eval", re.IGNORECASE)
_ID = re.compile(r"(?:^|_)id$|[a-z]I[Dd]$")
_TRAINED = re.compile(r"train", re.IGNORECASE)


def row_hash(table: Table, columns: list[Column], rounded: bool = False) -> str:
    """A number that equal rows share. Rounded: numbers to four digits, texts without case and blanks."""
    return table.hash_of([_blurred(column) if rounded else column.compared for column in columns])


def _blurred(column: Column) -> str:
    c = column.sql
    if column.family == "float":
        return f"CASE WHEN {c} = 0 THEN '0' ELSE printf('%.3e', CAST({c} AS DOUBLE)) END"
    return f"lower(trim({c}))" if column.family == "text" else column.compared


def repeats_in(table: Table, small: Table, roles: Roles, rows: int) -> Iterator[Observation]:
    """Equal rows, ids aside; and rows that are equal but for the label."""
    columns = [c for c in table.columns if c is not roles.id and not _names_rows(small, c)]
    features = [c for c in columns if c is not roles.label and c is not roles.split]
    if rows < 2 or not features or (len(features) < 2 and not _are_prose(small, features[0])):
        return
    hashed = row_hash(table, columns)
    repeats, among = table.repeated(hashed, rows)
    conflicting = _conflicts(table, row_hash(table, features), roles.label, rows) if roles.label else 0
    if not repeats and not conflicting:
        return
    chance = by_chance(small, features) * rows * (rows - 1) / 2
    yield RepeatedRows(
        source=table.name,
        rows=rows,
        repeats=repeats,
        columns=tuple(column.name for column in columns),
        label=roles.label.name if roles.label else "",
        conflicting=conflicting,
        by_chance=chance,
        cells=_examples(table, hashed, among) if repeats else (),
        conflict_cells=_conflict_examples(table, features, roles.label) if conflicting and roles.label else (),
    )


def _conflicts(table: Table, hashed: str, label: Column, rows: int) -> int:
    if rows > _MOST_CONFLICTING:
        return 0
    inner = f"SELECT {hashed} AS h, {label.sql} AS y FROM {{t}} WHERE {label.sql} IS NOT NULL"
    asked = f"SELECT sum(n) FROM (SELECT count(*) AS n FROM ({inner}) GROUP BY h HAVING count(DISTINCT y) > 1)"
    return int(table.query(asked)[0][0] or 0)


def by_chance(small: Table, columns: list[Column]) -> float:
    """The probability that two rows agree in all columns, were the columns independent."""
    logarithm = 0.0
    twins = {column.name: column for column in small.columns}
    for column in columns[:_CHANCE_COLUMNS]:
        c = twins[column.name].compared
        if _are_prose(small, column):
            logarithm += math.log(_NEVER)
            continue
        together, total = small.query(
            f"SELECT sum(CAST(n AS DOUBLE) * n), sum(n) FROM (SELECT count(*) AS n FROM {{t}} GROUP BY {c})"
        )[0]
        if total and total > 1:
            # Of a row with itself nothing can be learned: what is there once has no twin by chance.
            logarithm += math.log(max((together - total) / total / (total - 1), _NEVER))
    return math.exp(logarithm)


def _are_prose(small: Table, column: Column) -> bool:
    """Whether the texts of a column are sentences, so to speak: long, no dates, and hardly any of them comes again."""
    if column.family != "text":
        return False
    c = next(twin.sql for twin in small.columns if twin.name == column.name)
    # What begins with a digit sorts before the colon.
    length, kinds, present, dated = small.query(
        f"SELECT avg(length({c})), count(DISTINCT {c}), count({c}), count(CASE WHEN {c} < ':' THEN 1 END) FROM {{t}}"
    )[0]
    return bool(present and length >= _PROSE and 2 * kinds >= present > 2 * dated)


def _names_rows(small: Table, column: Column) -> bool:
    """Whether a column is an id by its name, and another one in each row."""
    if not _ID.search(column.name) or column.family not in ("integer", "text"):
        return False
    c = next(twin.sql for twin in small.columns if twin.name == column.name)
    rows, kinds = small.query(f"SELECT count(*), count(DISTINCT {c}) FROM {{t}}")[0]
    return bool(rows == kinds)


def _examples(table: Table, hashed: str, among: str) -> tuple[Cell, ...]:
    # Of lists and the like the view has the length alone, which shows nothing.
    columns = ([c for c in table.columns if not c.whole] or table.columns)[:4]
    shown = ", ".join(f"min({column.sql})" for column in columns)
    rows = table.query(
        f"SELECT count(*), {shown} FROM (SELECT *, {hashed} AS h FROM {{t}}) WHERE {among} "
        f"GROUP BY h HAVING count(*) > 1 ORDER BY count(*) DESC, {shown} LIMIT 3"
    )
    names = [column.name for column in columns]
    return tuple(Cell(text=f"{row[0]} times " + _pairs(names, row[1:])) for row in rows)


def _conflict_examples(table: Table, features: list[Column], label: Column) -> tuple[Cell, ...]:
    shown = ([c for c in features if not c.whole] or features)[:4]
    listed = ", ".join(f"min({column.sql})" for column in shown)
    rows = table.query(
        f"SELECT min({label.sql}), max({label.sql}), {listed} "
        f"FROM (SELECT *, {row_hash(table, features)} AS h FROM {{t}} "
        f"WHERE {label.sql} IS NOT NULL) GROUP BY h HAVING count(DISTINCT {label.sql}) > 1 "
        # By number: Spark does not find the columns of an aggregate behind HAVING.
        f"ORDER BY {', '.join(str(3 + i) for i in range(len(shown)))} LIMIT 3"
    )
    names = [column.name for column in shown]
    return tuple(Cell(text=f"{_pairs(names, row[2:])} is {row[0]} and {row[1]}") for row in rows)


def _pairs(names: list[str], values: tuple[object, ...]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in zip(names, values, strict=True))


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else text[:23] + "…"


def shared_within(table: Table, small: Table, roles: Roles) -> Iterator[Observation]:
    """What the parts of one table, told apart by a column, have in common."""
    split = roles.split
    assert split is not None
    parts = [
        str(v)
        for (v,) in table.query(f"SELECT DISTINCT {split.sql} FROM {{t}} WHERE {split.sql} IS NOT NULL ORDER BY 1")
    ]
    train = next((part for part in parts if _TRAINED.search(part)), None)
    if train is None:
        if "split" not in roles.guessed:
            said = ", ".join(parts[:4]) + (", …" if len(parts) > 4 else "")
            raise DataError(f"--split {split.name}: none of its values says what is trained on; there are {said}")
        return
    for test in (part for part in parts if part != train):
        left, right = (f"SELECT * FROM {{t}} WHERE {split.sql} = {literal(part)}" for part in (train, test))
        yield from shared(table, small, roles, left, right, (train, test))


def shared(
    table: Table, small: Table, roles: Roles, left: str, right: str, names: tuple[str, str]
) -> Iterator[Observation]:
    """Rows, keys and groups of the second part that the first has too. `left` and `right` are queries."""
    of = int(table.query(f"SELECT count(*) FROM ({right})")[0][0])
    features = [c for c in table.columns if c not in (roles.id, roles.split, roles.label)]
    if not of or (len(features) < 2 and not any(c.family == "text" or c.whole for c in features)):
        return
    yield from _shared_in_steps(table, small, features, of, (left, right), names)
    yield from _shared_keys(table, roles, left, right, names)
    yield from _in_time(table, small, roles, left, right, names)


def _shared_in_steps(
    table: Table, small: Table, features: list[Column], of: int, parts: tuple[str, str], names: tuple[str, str]
) -> Iterator[SharedBetween]:
    """Equal rows, and more that are up to rounding and case; where there are few, rows changed in a few columns."""
    left, right = parts
    ahead = int(table.query(f"SELECT count(*) FROM ({left})")[0][0])
    chance = min(1.0, by_chance(small, features) * ahead) * of
    vague = any(c.family in ("float", "text") for c in features)
    many, told = max(3, 10 * chance, 0.005 * of), 0
    for how, rounded in (("exact", False), ("near", True)):
        if rounded and not vague:
            continue
        found = _shared_rows(table, row_hash(table, features, rounded=rounded), left, right)
        # Equal rows are equal up to rounding as well: what counts is what they do not account for.
        if found and (found - told >= many or not told):
            yield SharedBetween(
                source=table.name,
                train=names[0],
                test=names[1],
                how=how,
                columns=tuple(column.name for column in features),
                shared=found,
                of=of,
                by_chance=chance,
            )
        told = found if found >= many else told
    if told:
        return
    changed = changed_copies(
        table,
        features,
        (ahead, of),
        parts,
        lambda columns: row_hash(table, columns, rounded=True),
        lambda columns: by_chance(small, columns),
    )
    for copies in (changed, reworded(table, features, (ahead, of), parts)):
        if copies is not None:
            yield replace(copies, train=names[0], test=names[1])


def _shared_rows(table: Table, hashed: str, left: str, right: str) -> int:
    asked = f"SELECT count(*) FROM (SELECT {hashed} AS h FROM ({right})) r WHERE h IN (SELECT {hashed} FROM ({left}))"
    return int(table.query(asked)[0][0])


def _shared_keys(table: Table, roles: Roles, left: str, right: str, names: tuple[str, str]) -> Iterator[SharedBetween]:
    keys = [(column, "group") for column in roles.entities]
    if roles.id is not None and ("id" not in roles.guessed or roles.id.family == "text"):
        keys.append((roles.id, "key"))
    for column, how in dict(keys).items():
        c = column.sql
        theirs = f"SELECT DISTINCT {c} AS k FROM ({right}) WHERE {c} IS NOT NULL"
        of = table.query(f"SELECT count(*) FROM ({theirs})")[0][0]
        common = table.query(f"SELECT count(*) FROM ({theirs}) WHERE k IN (SELECT {c} FROM ({left}))")[0][0]
        if common:
            rows = table.query(
                f"SELECT DISTINCT {c} FROM ({right}) WHERE {c} IN (SELECT {c} FROM ({left})) ORDER BY 1 LIMIT 5"
            )
            yield SharedBetween(
                source=table.name,
                train=names[0],
                test=names[1],
                how=how,
                columns=(column.name,),
                shared=int(common),
                of=int(of),
                cells=tuple(Cell(text=f"{column.name}={row[0]}") for row in rows),
            )


def _in_time(
    table: Table, small: Table, roles: Roles, left: str, right: str, names: tuple[str, str]
) -> Iterator[SplitInTime]:
    column = roles.time
    said = sortable(small, column) if column is not None else None
    if column is None or said is None:
        return
    train = table.query(f"SELECT min({said}), max({said}), count(*) FROM ({left})")[0]
    test = table.query(f"SELECT min({said}), max({said}), count(*) FROM ({right})")[0]
    if None in (*train, *test):
        return
    after = table.query(f"SELECT count(*) FROM ({left}) WHERE {said} > {literal(str(test[0]))}")[0][0]
    yield SplitInTime(
        source=table.name,
        train=names[0],
        test=names[1],
        column=column.name,
        train_first=str(train[0])[:19],
        train_last=str(train[1])[:19],
        test_first=str(test[0])[:19],
        test_last=str(test[1])[:19],
        after=int(after),
        train_rows=int(train[2]),
        given="time" not in roles.guessed,
    )


def is_training(name: str) -> bool:
    return bool(_TRAINED.search(name))


def is_held_out(name: str) -> bool:
    return bool(_HELD_OUT.search(name)) and not is_training(name)
