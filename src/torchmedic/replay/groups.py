"""To which groups the bad rows of a line belong, where the line looks something up by group."""

from __future__ import annotations

import ast
from typing import Any

_COLUMN = (ast.Subscript, ast.Name, ast.Constant, ast.Load, ast.Attribute)


def groups_of(statement: ast.stmt | None, rows: tuple[str, ...], values: dict[str, Any]) -> tuple[str, ...]:
    """`ITEMID: 51548` for `events["ITEMID"].map(std)` and the rows that are bad; nothing where no such look-up is."""
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "map":
            column = node.func.value
            if all(isinstance(part, _COLUMN) for part in ast.walk(column)):
                return _labels(column, rows, values)
    return ()


def _labels(column: ast.expr, rows: tuple[str, ...], values: dict[str, Any]) -> tuple[str, ...]:
    try:
        series = eval(compile(ast.Expression(column), "<column>", "eval"), {}, values)
        found = dict.fromkeys(str(series.loc[int(row)]) for row in rows if row.isdigit())
    except Exception:  # noqa: BLE001 - a look-up of another kind
        return ()
    name = getattr(series, "name", None)
    return tuple(f"{name}: {label}" for label in found) if name is not None else ()
