"""Follows a NaN that was taken for a text to the column of the table, and to the line that reads it."""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from torchmedic.facts import Location, MissingCell
from torchmedic.probes.crash.comprehensions import scope_at
from torchmedic.probes.source.expressions import failing_expression, peek
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.sources import user_nodes

_REFUSALS = re.compile(
    r"'float' object (?:has no attribute|is not (?:iterable|subscriptable))|type 'float' (?:has no len|is not iterable)"
    r"|got 'float'|expected str instance, float found|float found"
)
_READERS = ("read_csv", "read_table")
_MOST_ROWS = 200_000
_WIDEST = 1000


def missing_cell(error: BaseException) -> MissingCell | None:
    """For an operation on text that met a NaN."""
    if not _REFUSALS.search(str(error)) or "pandas" not in sys.modules:
        return None
    level, levels = error.__traceback__, []
    while level is not None:
        if is_user_file(level.tb_frame.f_code.co_filename):
            levels.append(level)
        level = level.tb_next
    name = next((name for level in reversed(levels) for name in _missing_names(level)), "")
    reading = only_reading()
    column = _only_column([level.tb_frame for level in levels]) if name and reading else None
    if column is None or reading is None:
        return None
    where, path = reading
    words = _words(path, column[0])
    return MissingCell(name=name, column=column[0], missing=column[1], rows=column[2], where=where, words=words)


def _missing_names(level: TracebackType) -> Iterator[str]:
    """What the failing expression reads, then all that its function knows, where it is NaN."""
    node, scope = failing_expression(level), scope_at(level)
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and _is_nan(peek(part, scope)):
            yield ast.unparse(part)
    yield from (name for name, value in list(scope.f_locals.items()) if _is_nan(value))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _only_column(frames: list[FrameType]) -> tuple[str, int, int] | None:
    """The one column of text with missing cells in the tables around, how many are missing, and of how many.

    A row of the table that one of the functions holds tells which of its columns are missing there.
    """
    pandas = sys.modules["pandas"]
    held = [thing for frame in reversed(frames) for thing in held_by(frame)]
    series = [s for s in held if isinstance(s, pandas.Series) and len(s) <= _WIDEST]
    rows = [row for row in series if all(isinstance(key, str) for key in row.index)]
    lacking = [{key for key, value in row.items() if _is_nan(value)} for row in rows]
    found: dict[str, tuple[str, int, int]] = {}
    for table in (t for t in held if isinstance(t, pandas.DataFrame)):
        for name in table.columns:
            missing = int(table[name].isna().sum()) if not is_numeric(table[name]) else 0
            if 0 < missing < len(table) and all(str(name) in names for names in lacking if names):
                found.setdefault(str(name), (str(name), missing, len(table)))
    return next(iter(found.values())) if len(found) == 1 else None


def is_numeric(column: Any) -> bool:
    """Whether a column of a table holds numbers or times."""
    return getattr(column.dtype, "kind", "O") in "biufcmM"


def held_by(frame: FrameType) -> Iterator[Any]:
    """What a function knows, and what the object that it belongs to holds."""
    for thing in list(frame.f_locals.values()):
        yield thing
        if is_user_file(getattr(sys.modules.get(type(thing).__module__), "__file__", None) or ""):
            yield from list(getattr(thing, "__dict__", {}).values())


def only_reading() -> tuple[Location, str] | None:
    """The one line in the user's files that reads a table of text, and the name of its file where one is spelt."""
    found, named = [], []
    for file, node in user_nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS:
            found.append(location(file, node.lineno))
        elif isinstance(node, ast.Constant) and str(node.value).endswith((".csv", ".tsv")):
            named.append(str(node.value))
    return (found[0], named[0] if len(set(named)) == 1 else "") if len(found) == 1 else None


def _words(path: str, column: str) -> tuple[str, ...]:
    """How the file spells the cells of a column that pandas takes for missing."""
    if not path or not Path(path).is_file():
        return ()
    known = sys.modules["pandas"]._libs.parsers.STR_NA_VALUES
    with open(path, newline="", errors="replace") as file:
        lines = csv.DictReader(file, delimiter="\t" if path.endswith(".tsv") else ",")
        cells = [line.get(column) for _, line in zip(range(_MOST_ROWS), lines, strict=False)]
    return tuple(sorted({cell for cell in cells if cell is not None and cell in known}))[:5]
