"""Finds the column of a table that is text where numbers were needed, and the cells that made it text."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from torchmedic.facts import TextColumn
from torchmedic.probes.crash.comprehensions import scope_at
from torchmedic.probes.crash.missing_cell import held_by, is_numeric, only_reading
from torchmedic.probes.source.expressions import Scope, failing_expression, peek
from torchmedic.probes.source.frames import is_user_file
from torchmedic.redaction import redact

_REFUSALS = re.compile(
    r"can't convert np\.ndarray of type numpy\.(?:object_|str_)|could not convert string to (?:float|int)"
    r"|invalid literal for int\(\) with base 10|too many dimensions 'str'"
)
_MOST_ROWS = 2_000_000
_MOST_WORDS = 4
_LONGEST_WORD = 24
_MOSTLY = 0.5


def text_column(error: BaseException) -> TextColumn | None:
    """For an array or a tensor that could not be made of a table."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not _REFUSALS.search(str(error)):
        return None
    levels = list(_own_levels(error.__traceback__))
    named = [table for level in reversed(levels) for table in _named(level, pandas)]
    around = [thing for level in reversed(levels) for thing in held_by(level.tb_frame)]
    tables = [t for t in (*named, *around) if isinstance(t, (pandas.DataFrame, pandas.Series)) and len(t) <= _MOST_ROWS]
    found = [(fact, any(t is other for other in named)) for t in tables for fact in _columns(pandas, t)]
    # A column that is all text was meant as text, where it is not certain that this very table was refused.
    fitting = [fact for fact, is_named in found if fact.strange < fact.rows or is_named]
    # A message that quotes a text is about a cell that says so.
    quoted = re.search(r"(?:float|int|base 10):? ('.*')$", str(error))
    fitting = [fact for fact in fitting if quoted is None or quoted[1] in fact.words or fact.strange > _MOST_WORDS]
    return min(fitting, key=lambda fact: fact.strange == fact.rows, default=None)


def _own_levels(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        if is_user_file(tb.tb_frame.f_code.co_filename):
            yield tb
        tb = tb.tb_next


def _named(level: TracebackType, pandas: Any) -> Iterator[Any]:
    """Tables that the failing expression names, and columns of them."""
    node, scope = failing_expression(level), scope_at(level)
    for part in ast.walk(node) if node is not None else ():
        value = _value(part, scope, pandas)
        if isinstance(value, (pandas.DataFrame, pandas.Series)):
            yield value


def _value(node: ast.AST, scope: Scope, pandas: Any) -> Any:
    """What a name holds; of `table[["a", "b"]]` these columns, which are read without code of the user."""
    if isinstance(node, ast.Subscript):
        owner, key = peek(node.value, scope), _key(node.slice, scope)
        known = isinstance(owner, pandas.DataFrame) and isinstance(key, (str, list))
        if known and set([key] if isinstance(key, str) else key) <= set(owner.columns):
            return owner[key]
    return peek(node, scope)


def _key(node: ast.expr, scope: Scope) -> Any:
    if isinstance(node, ast.List) and all(isinstance(item, ast.Constant) for item in node.elts):
        return [item.value for item in node.elts if isinstance(item, ast.Constant)]
    return peek(node, scope)


def _columns(pandas: Any, table: Any) -> Iterator[TextColumn]:
    series = [table] if isinstance(table, pandas.Series) else [table[name] for name in table.columns.unique()]
    for column in series:
        if not isinstance(column, pandas.Series) or is_numeric(column) or not len(column):
            continue
        written = column.notna()
        strange = column[written & pandas.to_numeric(column, errors="coerce").isna()]
        if 0 < len(strange) <= _MOSTLY * int(written.sum()) or len(strange) == len(column):
            words = [
                redact(repr(word)[:_LONGEST_WORD]) for word in strange.astype(str).value_counts().index[:_MOST_WORDS]
            ]
            reading = only_reading()
            yield TextColumn(
                column=str(column.name),
                words=tuple(words),
                strange=len(strange),
                rows=len(column),
                row=int(strange.index[0]) if isinstance(strange.index[0], int) else None,
                where=reading[0] if reading is not None else None,
            )
