"""To which groups the bad rows of a line belong, where the line looks something up by group."""

from __future__ import annotations

import ast
from typing import Any

_GROUPED = ("SeriesGroupBy", "DataFrameGroupBy")
_COLUMN = (ast.Subscript, ast.Name, ast.Constant, ast.Load, ast.Attribute)


def groups_of(statement: ast.stmt | None, rows: tuple[str, ...], values: dict[str, Any]) -> tuple[str, ...]:
    """`ITEMID: 51548` for the bad rows of `events["ITEMID"].map(std)` or of a line that works by `groupby("ITEMID")`.

    Nothing where a line does neither.
    """
    nodes = list(ast.walk(statement)) if statement is not None else []
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value
            plain = all(isinstance(part, _COLUMN) for part in ast.walk(of))
            if plain and node.func.attr == "map":
                return _labels(of, rows, values)
            if plain and node.func.attr == "groupby" and (key := _key(node)) is not None:
                return _labels(ast.Subscript(of, key, ast.Load()), rows, values)
    grouped = (values.get(node.id) for node in nodes if isinstance(node, ast.Name))
    return next((_in_groups(one, rows) for one in grouped if type(one).__name__ in _GROUPED), ())


def _key(call: ast.Call) -> ast.expr | None:
    """The one column that a call groups by, where it names it."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "by")]
    return given[0] if len(given) == 1 and isinstance(given[0], ast.Constant) else None


def _in_groups(grouped: Any, rows: tuple[str, ...]) -> tuple[str, ...]:
    """The groups of rows that were grouped on an earlier line."""
    try:
        name, wanted = grouped.keys, {int(row) for row in rows if row.isdigit()}
        found = [str(label) for label, index in grouped.groups.items() if index.isin(wanted).any()]
    except Exception:  # noqa: BLE001 - grouped by something else than a column
        return ()
    return tuple(f"{name}: {label}" for label in found) if isinstance(name, str) else ()


def _labels(column: ast.expr, rows: tuple[str, ...], values: dict[str, Any]) -> tuple[str, ...]:
    try:
        series = eval(compile(ast.fix_missing_locations(ast.Expression(column)), "<column>", "eval"), {}, values)
        found = dict.fromkeys(str(series.loc[int(row)]) for row in rows if row.isdigit())
    except Exception:  # noqa: BLE001 - a look-up of another kind
        return ()
    name = getattr(series, "name", None)
    return tuple(f"{name}: {label}" for label in found) if name is not None else ()
