"""One numbering of labels: of which column of which table it is, and whether two are of two splits of the same data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.frames import is_user_file, location_of, names_in, outward

_MOST_FRAMES = 6
_MOST_NAMES = 300
_MOST_KEPT_ROWS = 200_000
_SAME_COLUMNS = 0.8
_SPLIT = re.compile(
    r"(?<![a-z])([xy]?)(train(?:ing)?|tr|test(?:ing)?|te|valid(?:ation)?|val|dev|eval(?:uation)?|hold_?out|held_out)(?![a-z])",
    re.IGNORECASE,
)


@late_dataclass()
class Encoding:
    """How the labels of one column were numbered, where, and from which rows.

    `trail` are the user's lines that led there, innermost first; `index` are the rows' names where they are few enough.
    """

    encoder: str
    column: str
    numbers: dict[Any, int]
    trail: tuple[Location, ...]
    rows: int
    columns: frozenset[str]
    table_name: str
    index: Any
    is_shared: bool = False

    @property
    def where(self) -> Location:
        return self.trail[0]


def described(encoder: str, values: Any, column: str, numbers: dict[Any, int], frame: FrameType) -> Encoding:
    frames = [one for one, _ in zip(_user_frames(frame), range(_MOST_FRAMES), strict=False)]
    rows = _rows(values)
    found = [(name, table) for one in frames for name, table in _tables(one) if _has(table, column, rows)]
    table = found[0][1] if found else None
    index = getattr(table, "index", None) if rows <= _MOST_KEPT_ROWS else None
    return Encoding(
        encoder=encoder,
        column=column,
        numbers=numbers,
        trail=tuple(location_of(one) for one in frames),
        rows=rows,
        columns=frozenset(map(str, table.columns)) if table is not None else frozenset(),
        table_name=_name_of(table if table is not None else values, frames),
        index=index,
    )


def are_two_splits(first: Encoding, second: Encoding) -> bool:
    """Whether two numberings of a column are of other rows of the same kind of table.

    Where the tables are not known, the user's lines have to be the same but for words such as `train` and `test`.
    """
    if any("group" in one.where.source.lower() for one in (first, second)):
        return False  # numbers of groups name parts of one split, to be kept together or scored one by one
    if not first.columns or not second.columns:
        return _differ_in_split(first.trail, second.trail)
    common = len(first.columns & second.columns)
    if common < 2 or common < _SAME_COLUMNS * min(len(first.columns), len(second.columns)):
        return False
    return not _share_rows(first, second)


def _share_rows(first: Encoding, second: Encoding) -> bool:
    if first.index is None or second.index is None:
        return first.rows == second.rows
    if all(type(one.index).__name__ == "RangeIndex" and one.index.start == 0 for one in (first, second)):
        return first.rows == second.rows  # counted anew: equal names say nothing
    return bool(second.index.isin(first.index).any())


def _differ_in_split(first: tuple[Location, ...], second: tuple[Location, ...]) -> bool:
    for one, other in zip(first, second, strict=False):
        if one.source != other.source:
            texts = [_SPLIT.sub(r"\1*", line.source.partition("#")[0]).split() for line in (one, other)]
            return texts[0] == texts[1]
    return False


def _user_frames(frame: FrameType) -> Iterator[FrameType]:
    return (one for one in outward(frame) if is_user_file(one.f_code.co_filename))


def _tables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The tables that a frame has a name for, by itself or on its `self`."""
    own = list(names_in(frame).items())[:_MOST_NAMES]
    held = getattr(frame.f_locals.get("self"), "__dict__", {})
    for name, thing in (*own, *((f"self.{name}", thing) for name, thing in list(held.items())[:_MOST_NAMES])):
        if type(thing).__name__ == "DataFrame" and hasattr(thing, "columns"):
            yield name, thing


def _name_of(thing: Any, frames: list[FrameType]) -> str:
    """The outermost name is the one that tells the splits apart: inside a function both are its parameter."""
    names = [name for frame in reversed(frames) for name, held in list(names_in(frame).items()) if held is thing]
    return names[0] if names else ""


def _has(table: Any, column: str, rows: int) -> bool:
    return len(table) == rows and column in table.columns


def _rows(values: Any) -> int:
    parent = getattr(values, "_parent", values)
    return len(parent) if hasattr(parent, "__len__") else 0
