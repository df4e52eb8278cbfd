"""Notices the table operation that took rows and left none, with the row count after each of its conditions."""

from __future__ import annotations

import ast
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from torchmedic.facts import EmptyFilter, Location
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import parsed, peek
from torchmedic.probes.source.frames import is_user_file, location_of
from torchmedic.record import Probe, Recorder, shielded
from torchmedic.redaction import redact

_MOST_SEEN = 30
_MOST_VALUES = 6
# Methods that only look at a column: a condition made of them can be evaluated a second time.
_HARMLESS = {
    "isin", "between", "notna", "isna", "notnull", "isnull", "eq", "ne", "lt", "le", "gt", "ge", "abs", "astype",
    "lower", "upper", "strip", "contains", "startswith", "endswith", "match", "fullmatch", "len", "round",
    "fillna", "to_datetime", "to_timedelta", "duplicated", "isnumeric", "isdigit",
}  # fmt: skip
_PURE = (
    ast.Compare, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Attribute, ast.Name, ast.Constant, ast.Subscript, ast.List,
    ast.Tuple, ast.Set, ast.Slice, ast.keyword, ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop,
)  # fmt: skip


class Tables(Probe):
    """Patches the ways in which pandas drops rows. A call costs two `len` more."""

    name = "tables"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._seen: dict[tuple[str, int], tuple[EmptyFilter, weakref.ref[Any]]] = {}
        from pandas import DataFrame
        from pandas.core.indexing import _LocIndexer

        for name in ("__getitem__", "query", "dropna", "merge"):
            self._watch(DataFrame, name, lambda frame: frame)
        self._watch(_LocIndexer, "__getitem__", lambda indexer: indexer.obj)

    def remove(self) -> None:
        self._patches.restore()

    def on_crash(self, _error: BaseException) -> None:
        for seen, result in self._seen.values():
            held = result() is not None
            self.recorder.observe(EmptyFilter(**{**vars(seen), "still_held": held}))

    def _watch(self, owner: type, name: str, table_of: Callable[[Any], Any]) -> None:
        original = getattr(owner, name)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def taken(subject: Any, *args: Any, **kwargs: Any) -> Any:
            if name == "query":
                # `@name` in a query is looked up so many frames above, and we are one more.
                kwargs["level"] = kwargs.get("level", 0) + 1
            with frame_hidden:
                result = original(subject, *args, **kwargs)
            if hasattr(result, "dtypes") and len(result) == 0:
                note(name, table_of(subject), result, sys._getframe(1))
            return result

        self._patches.replace(owner, name, taken)

    def _note(self, operation: str, table: Any, result: Any, frame: FrameType) -> None:
        rows = len(table)
        if rows == 0 or len(self._seen) >= _MOST_SEEN or not is_user_file(frame.f_code.co_filename):
            return
        where = location_of(frame)
        if (where.file, where.line) in self._seen:
            return
        found = _describe(operation, table, rows, where, frame)
        self._seen[where.file, where.line] = (found, weakref.ref(result))


def _describe(operation: str, table: Any, rows: int, where: Location, frame: FrameType) -> EmptyFilter:
    node, conditions = _conditions(operation, table, frame)
    counts, hints = _counted(conditions, table, frame) if conditions else ((), ())
    return EmptyFilter(
        where=where,
        operation=operation,
        table=ast.unparse(node) if node is not None else "the table",
        rows=rows,
        conditions=counts,
        hints=hints,
    )


def _conditions(operation: str, table: Any, frame: FrameType) -> tuple[ast.expr | None, list[ast.expr]]:
    """The expression that names the table on this line, and the conditions put to it, in order."""
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return None, []
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or not node.lineno <= frame.f_lineno <= (node.end_lineno or 0):
            continue
        subject, mask = _subject_and_mask(node, operation)
        if subject is not None and peek(subject, frame) is table:
            return subject, list(_anded(mask, frame)) if mask is not None else []
    return None, []


def _subject_and_mask(node: ast.expr, operation: str) -> tuple[ast.expr | None, ast.expr | None]:
    if operation == "__getitem__" and isinstance(node, ast.Subscript):
        rows = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        is_loc = isinstance(node.value, ast.Attribute) and node.value.attr == "loc"
        return (node.value.value if is_loc and isinstance(node.value, ast.Attribute) else node.value), rows
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == operation:
        mask = _query_mask(node) if operation == "query" else None
        return node.func.value, mask
    return None, None


def _query_mask(call: ast.Call) -> ast.expr | None:
    """The parsed text of `query("…")` where it is plain Python over column names."""
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    try:
        return ast.parse(first.value.strip(), mode="eval").body
    except SyntaxError:
        return None


def _anded(mask: ast.expr, frame: FrameType) -> Iterator[ast.expr]:
    """`a & b & c` one by one; a name is looked up as the expression it was last given."""
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        yield from _anded(mask.left, frame)
        yield from _anded(mask.right, frame)
    elif isinstance(mask, ast.BoolOp) and isinstance(mask.op, ast.And):
        for part in mask.values:
            yield from _anded(part, frame)
    else:
        yield mask


def _counted(
    conditions: list[ast.expr], table: Any, frame: FrameType
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """Rows left after each condition, and what the columns of the first fatal one hold instead."""
    left = None
    counts: list[tuple[str, int]] = []
    for condition in conditions:
        mask = _evaluate(condition, table, frame)
        if mask is None or len(mask) != len(table):
            return tuple(counts), ()
        left = mask if left is None else left & mask
        counts.append((redact(ast.unparse(condition)), int(left.sum())))
        if counts[-1][1] == 0:
            return tuple(counts), tuple(_hints(condition, table))
    return tuple(counts), ()


def _evaluate(condition: ast.expr, table: Any, frame: FrameType) -> Any:
    """The condition as a boolean column; None where evaluating it again could do more than look."""
    if not all(_is_harmless(node) for node in ast.walk(condition)):
        return None
    columns = {str(name): table[name] for name in table.columns if str(name).isidentifier()}
    code = compile(ast.fix_missing_locations(ast.Expression(body=condition)), "<condition>", "eval")
    try:
        mask = eval(code, {**frame.f_globals}, {**columns, **frame.f_locals})
    except Exception:  # noqa: BLE001 - a condition that cannot stand alone is left out
        return None
    return mask if hasattr(mask, "sum") and hasattr(mask, "__len__") else None


def _is_harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _HARMLESS
    return isinstance(node, _PURE)


def _hints(condition: ast.expr, table: Any) -> Iterator[str]:
    """What the columns of a condition that no row meets hold."""
    names = {n.value for n in ast.walk(condition) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    names |= {n.attr for n in ast.walk(condition) if isinstance(n, ast.Attribute)}
    names |= {n.id for n in ast.walk(condition) if isinstance(n, ast.Name)}
    for name in table.columns:
        if str(name) in names:
            yield _column_hint(str(name), table[name])


def _column_hint(name: str, column: Any) -> str:
    kind = str(column.dtype)
    if column.dtype.kind in "ifu" and column.nunique() > _MOST_VALUES:
        return f"`{name}` ({kind}) lies between {column.min():g} and {column.max():g}"
    values = list(column.dropna().unique()[:_MOST_VALUES])
    more = ", …" if column.nunique() > len(values) else ""
    return redact(f"`{name}` ({kind}) holds " + ", ".join(repr(_plain(v)) for v in values) + more)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
