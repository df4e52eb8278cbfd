"""Which column is label, id, time, group or split: as told, else guessed from names and a look at the first rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from torchmedic.checkups.data.engine import Column, Table
from torchmedic.checkups.data.options import Options
from torchmedic.facts import NormalisedBy

_HEAD_ROWS = 20_000
_LABEL = re.compile(r"(?:^|_)(?:labels?|targets?|class|outcome)$|^y$", re.IGNORECASE)
_ID = re.compile(r"^(?:id|uid|uuid|guid|index|(?:row|record|sample|example|event|labevent)_?id)$", re.IGNORECASE)
_TIME = re.compile(r"(?:^|_)(?:time|timestamp|datetime|date|charttime|ts)$|^created_at$", re.IGNORECASE)
_SPLIT = re.compile(r"^(?:split|subset|partition|data_?split|set)$", re.IGNORECASE)
_ITEM = re.compile(
    r"^(?:item|sensor|station|symbol|ticker|variable|feature|channel|parameter|analyte|metric|signal|probe|gene|test)"
    r"(?:_?(?:id|code|name))?$",
    re.IGNORECASE,
)
_ENTITY = re.compile(
    r"^(?:patient|subject|person|speaker|participant|donor|animal)(?:_?(?:id|code|name|no))?$", re.IGNORECASE
)
_VALUE = re.compile(r"(?:^|_)(?:value|valuenum|reading|measurement|result|amount|level|signal)$", re.IGNORECASE)
_PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev", "holdout", "eval"}


@dataclass
class Roles:
    """Columns by role. `values` are those whose spread within groups matters; `entities` must not cross a split.

    `by_key` says of some keys which of the values their groups are of; the groups of others are of all.
    """

    label: Column | None = None
    id: Column | None = None
    time: Column | None = None
    split: Column | None = None
    groups: list[Column] = field(default_factory=list)
    entities: list[Column] = field(default_factory=list)
    values: list[Column] = field(default_factory=list)
    by_key: dict[str, list[Column]] = field(default_factory=dict)
    guessed: list[str] = field(default_factory=list)

    def of(self, column: Column) -> str:
        """The role of one column; empty for a feature."""
        for name in ("label", "id", "time", "split"):
            if getattr(self, name) is column:
                return name
        return "group" if column in self.groups or column in self.entities else ""

    def named(self) -> dict[str, str]:
        told = {name: getattr(self, name) for name in ("label", "id", "time", "split")}
        found = {name: column.name for name, column in told.items() if column is not None}
        if self.groups:
            found["group"] = ", ".join(column.name for column in self.groups)
        return found


def roles_of(table: Table, options: Options) -> Roles:
    """The roles of a table's columns."""
    by_name = {column.name: column for column in table.columns}
    roles = Roles()
    guesses: dict[str, Callable[[], Column | None]] = {
        "label": lambda: _single(table.columns, _LABEL, ("integer", "text", "bool", "float")),
        "id": lambda: _single(table.columns, _ID, ("integer", "text")),
        "time": lambda: _time(table.columns),
        "split": lambda: _split(table),
    }
    for name, guess in guesses.items():
        # What was told is not guessed anew where a table has not got it, as test data may lack the label.
        told = getattr(options, name)
        setattr(roles, name, by_name.get(told) if told else guess())
    for name in ("label", "id", "time", "split"):
        if getattr(roles, name) is not None and not getattr(options, name):
            roles.guessed.append(name)
    roles.entities = [c for c in table.columns if _ENTITY.search(c.name)]
    _groups(table, options, roles, by_name)
    return roles


def _single(columns: list[Column], pattern: re.Pattern[str], families: tuple[str, ...]) -> Column | None:
    """The one column of such a name; two of them are no guess to make."""
    found = [column for column in columns if pattern.search(column.name) and column.family in families]
    return found[0] if len(found) == 1 else None


def _time(columns: list[Column]) -> Column | None:
    named = _single(columns, _TIME, ("time", "text"))
    timed = [column for column in columns if column.family == "time"]
    return named or (timed[0] if len(timed) == 1 else None)


def _split(table: Table) -> Column | None:
    column = _single(table.columns, _SPLIT, ("text",))
    if column is None:
        return None
    rows = table.query(f"SELECT DISTINCT {column.sql} FROM (SELECT {column.sql} FROM {{t}} LIMIT {_HEAD_ROWS})")
    values = {str(value).lower() for (value,) in rows if value is not None}
    return column if values and values <= _PARTS else None


def _groups(table: Table, options: Options, roles: Roles, by_name: dict[str, Column]) -> None:
    asked = [by_name.get(name) or together(name, table.columns) for name in options.group_by]
    roles.groups = [column for column in asked if column is not None]
    floats = [c for c in table.columns if c.family == "float" and not roles.of(c)]
    if options.group_by:
        numbers = _numbers_beside(roles.groups, table.columns)
        roles.values = floats or [c for c in numbers if not roles.of(c) and not c.name.lower().endswith("id")]
        return
    if _seen_groups(options, roles, table.columns, floats):
        return
    # Only a long table (one row a measurement, one column of values) is normalised by key as a matter of course.
    named = [c for c in floats if _VALUE.search(c.name)]
    values = named if len(named) == 1 else floats if len(floats) == 1 else []
    keys = [c for c in table.columns if _ITEM.search(c.name) and c.family in ("integer", "text")]
    if len(values) == 1 and len(keys) == 1 and _repeats(table, keys[0]):
        roles.groups, roles.values = keys, values
        roles.guessed.append("group")


def _seen_groups(options: Options, roles: Roles, columns: list[Column], floats: list[Column]) -> bool:
    """The keys by which a script was seen to scale, and the columns that its lines name."""
    joined = [together(one.key, columns) for one in options.normalised]
    roles.groups = [c for c in columns if scaled_by(options, c.name) is not None]
    roles.groups += dict.fromkeys(column for column in joined if column is not None)
    if not roles.groups:
        return False
    roles.values = list(dict.fromkeys(c for key in roles.groups for c in _scaled(options, key, roles, columns, floats)))
    return True


def _scaled(options: Options, key: Column, roles: Roles, columns: list[Column], floats: list[Column]) -> list[Column]:
    """The columns scaled by a key: those that its lines name, else all that could be."""
    named = {name.lower() for one in _lines_of(options, key.name) for name in one.named}
    numbers = [c for c in _numbers_beside(roles.groups, columns) if not _is_code(c, roles)]
    scaled = [c for c in numbers if c.name.lower() in named] or floats
    roles.by_key[key.name] = scaled
    return scaled


def _is_code(column: Column, roles: Roles) -> bool:
    return column is roles.id or (column.family == "integer" and column.name.lower().endswith("id"))


def _numbers_beside(groups: list[Column], columns: list[Column]) -> list[Column]:
    """Columns of numbers that are no keys, nor part of one."""
    keys = {name for key in groups for name in key.name.split(",")}
    return [c for c in columns if c.family in ("float", "integer") and c.name not in keys]


def together(key: str, columns: list[Column]) -> Column | None:
    """Several columns, named with commas between them, as one key."""
    by_name = {column.name.lower(): column for column in columns}
    parts = [by_name.get(name.strip().lower()) for name in key.split(",")]
    if len(parts) < 2 or None in parts:
        return None
    said = (f"coalesce(CAST({part.sql} AS STRING), 'NULL')" for part in parts if part is not None)
    name = ",".join(part.name for part in parts if part is not None)
    return Column(name, f"concat_ws(',', {', '.join(said)})", "VARCHAR", "text")


def scaled_by(options: Options, key: str, column: str = "") -> NormalisedBy | None:
    """The line that scales by a key, one that names the column before the others."""
    return max(_lines_of(options, key), key=lambda one: column.lower() in map(str.lower, one.named), default=None)


def _lines_of(options: Options, key: str) -> list[NormalisedBy]:
    """The lines that divide by the spread of a key's groups, else those that only take it; names in any case."""
    seen = [one for one in options.normalised if one.key.lower() == key.lower()]
    return [one for one in seen if one.divides] or seen


def _repeats(table: Table, key: Column) -> bool:
    """Whether a key groups the rows: several keys, each with many rows."""
    counted = f"SELECT count(*), count(DISTINCT {key.sql}) FROM (SELECT {key.sql} FROM {{t}} LIMIT {_HEAD_ROWS})"
    rows, keys = table.query(counted)[0]
    return bool(keys >= 3 and rows >= 10 * keys)
