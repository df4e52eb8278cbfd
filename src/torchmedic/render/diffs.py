"""A cure that was tried, written as the change of the line: the reader sees what to type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from torchmedic.findings import Diagnosis, Remedy, Verdict

_WRITE = re.compile(r"\Awrite `([^`]+)`\Z")


def with_diffs(verdict: Verdict) -> Verdict:
    """The verdict with a diff for each tried cure that changes one operand of the marked expression."""
    return replace(verdict, diagnoses=tuple(_diagnosis(d) for d in verdict.diagnoses))


def _diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    return replace(diagnosis, remedies=tuple(_remedy(remedy, diagnosis) for remedy in diagnosis.remedies))


def _remedy(remedy: Remedy, diagnosis: Diagnosis) -> Remedy:
    written = _WRITE.match(remedy.title)
    if not remedy.verified or remedy.diff or written is None or diagnosis.where is None:
        return remedy
    diff = cure_diff(diagnosis.where.source, diagnosis.mark, written.group(1))
    return replace(remedy, diff=diff) if diff else remedy


def cure_diff(source: str, mark: str, new: str) -> str | None:
    """The change of a line in which an operand of the marked expression is written anew.

    >>> print(cure_diff("    loss = -torch.log(p).mean()", "torch.log(p)", "p.clamp_min(1e-8)"))
    - loss = -torch.log(p).mean()
    + loss = -torch.log(p.clamp_min(1e-8)).mean()
    """
    span = _operand(mark, new)
    if span is None or source.count(mark) != 1:
        return None
    changed = mark[: span[0]] + new + mark[span[1] :]
    return f"- {source.strip()}\n+ {source.replace(mark, changed).strip()}"


def _operand(mark: str, new: str) -> tuple[int, int] | None:
    """Where in the expression stands what `new` is a method call on; nothing if that is not one place."""
    try:
        expression = ast.parse(mark, mode="eval").body
        call = ast.parse(new, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    wanted = ast.dump(call.func.value)
    found = [node for node in _operands(expression) if ast.dump(node) == wanted]
    # Columns are counted in bytes: an expression with other letters than ASCII is left alone.
    if len(found) != 1 or not mark.isascii() or found[0].lineno != 1 or found[0].end_lineno != 1:
        return None
    return found[0].col_offset, found[0].end_col_offset or 0


def _operands(expression: ast.expr) -> Iterator[ast.expr]:
    """What an operation is applied to: of a division, the divisor; of a method, its object; of a call, its first."""
    if isinstance(expression, ast.BinOp):
        yield expression.right
        if not isinstance(expression.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            yield expression.left
    elif isinstance(expression, ast.Call):
        yield from expression.args[:1]
        if isinstance(expression.func, ast.Attribute) and not _is_module(expression.func.value):
            yield expression.func.value


def _is_module(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("torch", "F", "np", "nn", "math")
