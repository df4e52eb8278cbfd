"""Finds the slice that reached past the end of what it cuts, which makes one sample shorter than the others."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from torchmedic.facts import Location, ShortSlice
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import function_of, parsed
from torchmedic.probes.source.frames import is_user_file, location

_MOST = 50
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Call)
_KNOWN = ("int", "len", "min", "max")


@late_dataclass(frozen=True)
class _Cut:
    """A slice as it was asked for, and the size of what it cuts."""

    code: CodeType
    line: int
    text: str
    asked: int
    there: int


def short_slice_behind(dataset: Any, indices: Sequence[Any], odd: Sequence[int]) -> ShortSlice | None:
    """The slice that came out short in an odd sample and in none of the usual ones, by fetching some of them again."""
    usual = [i for i in range(len(indices)) if i not in odd]
    innocent = {(c.code, c.line) for i in usual[:3] for c in _cuts_of(dataset, indices[i])}
    cuts = [c for c in _cuts_of(dataset, indices[odd[0]]) if (c.code, c.line) not in innocent]
    if not cuts:
        return None
    cut = cuts[0]
    length = _right_length(dataset, indices[odd[0]], cut)
    return ShortSlice(
        where=location(cut.code.co_filename, cut.line, cut.code.co_qualname),
        expression=cut.text,
        asked=cut.asked,
        there=cut.there,
        length=len(dataset) if length is not None else None,
        right_length=length,
        length_at=_length_line(dataset) if length is not None else None,
    )


def _right_length(dataset: Any, index: Any, cut: _Cut) -> int | None:
    """How many items the data set has whose slice is whole, if all that are not lie at its end."""
    length = index - (cut.asked - cut.there) + 1 if isinstance(index, int) and hasattr(dataset, "__len__") else 0
    if length <= 0 or not 0 < length < len(dataset):
        return None
    before = [c for c in _cuts_of(dataset, length - 1) if (c.code, c.line) == (cut.code, cut.line)]
    after = [c for c in _cuts_of(dataset, length) if (c.code, c.line) == (cut.code, cut.line)]
    return length if not before and any(c.asked - c.there == 1 for c in after) else None


def _length_line(dataset: Any) -> Location | None:
    """The line of the user's `__len__` that says how many items there are."""
    code = getattr(getattr(type(dataset), "__len__", None), "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    function = function_of(code)
    return location(code.co_filename, function.body[-1].lineno, code.co_qualname) if function is not None else None


def _cuts_of(dataset: Any, index: Any) -> list[_Cut]:
    """The slices of the user's lines that reach past an end while one sample is fetched."""
    found: list[_Cut] = []

    def enter(frame: FrameType, _event: str, _arg: Any) -> Any:
        return within if is_user_file(frame.f_code.co_filename) else None

    def within(frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line" and len(found) < _MOST:
            found.extend(_short_on_line(frame))
        return within

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        dataset[index]
    except Exception:  # noqa: BLE001 - another draw of a random crop may fail where the first did not
        found.clear()
    finally:
        sys.settrace(before)
    return found


def _short_on_line(frame: FrameType) -> Iterator[_Cut]:
    tree = parsed(frame.f_code.co_filename)
    line = frame.f_lineno or 0
    statements = (n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno == line) if tree else ()
    for statement in statements:
        if hasattr(statement, "body"):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript):
                yield from _short(frame, line, node)


def _short(frame: FrameType, line: int, node: ast.Subscript) -> Iterator[_Cut]:
    """Windows only: `x[:n]` means "at most n", and is often meant to come out shorter."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for dimension, part in enumerate(parts):
        if not isinstance(part, ast.Slice) or part.lower is None or part.upper is None:
            continue
        if not all(map(_is_plain, (node.value, part.lower, part.upper))):
            continue
        base, start, stop = (_value(frame, n) for n in (node.value, part.lower, part.upper))
        sizes = getattr(base, "shape", None) or ((len(base),) if hasattr(base, "__len__") else ())
        if isinstance(start, int) and isinstance(stop, int) and dimension < len(sizes):
            size = int(sizes[dimension])
            if 0 <= start < stop and stop > size:
                yield _Cut(frame.f_code, line, ast.unparse(node), stop, size)


def _is_plain(node: ast.expr) -> bool:
    """Names, numbers and arithmetic: what can be worked out a second time."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") not in _KNOWN:
            return False
        if isinstance(part, ast.expr) and not isinstance(part, _PLAIN):
            return False
    return True


def _value(frame: FrameType, node: ast.expr) -> Any:
    try:
        return eval(compile(ast.Expression(node), "<slice>", "eval"), frame.f_globals, frame.f_locals)
    except Exception:  # noqa: BLE001 - it may not be defined yet, or do anything
        return None
