"""Finds a number in the user's own source: the line that writes a label to be ignored."""

from __future__ import annotations

import ast

from torchmedic.facts import Location
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_LABELS = ("label", "target", "tgt", "y")
_LARGEST_FILE = 500_000


def line_with_number(number: float) -> Location | None:
    """The first statement in a user's file that writes this number, one about labels before others.

    Where a constant has a name, the statements that use the name write it too; the one that gives the name is the
    last to be told, as nothing is wrong with it.
    """
    found: list[tuple[int, str, int]] = []
    for file in user_files():
        try:
            with open(file, "rb") as source:
                tree = ast.parse(source.read(_LARGEST_FILE))
        except (OSError, SyntaxError, ValueError):
            continue
        statements = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and not hasattr(n, "body")]
        names = {name for statement in statements for name in _named(statement, number)}
        for statement in statements:
            if _writes(statement, number) or (_is_about_labels(statement) and _reads(statement, names)):
                last = bool(_named(statement, number))
                found.append((2 if last else int(not _is_about_labels(statement)), file, statement.lineno))
    if not found:
        return None
    _, file, line = min(found)
    return location(file, line)


def _named(statement: ast.stmt, number: float) -> list[str]:
    """The names that a statement gives to just this number."""
    if not isinstance(statement, ast.Assign) or not _is_number(statement.value, number):
        return []
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _reads(statement: ast.stmt, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names for n in ast.walk(statement))


def _writes(statement: ast.stmt, number: float) -> bool:
    return any(_is_number(node, number) for node in ast.walk(statement))


def _is_number(node: ast.AST, number: float) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_number(node.operand, -number)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value == number


def _is_about_labels(statement: ast.stmt) -> bool:
    names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return any(word in name.lower() for name in names for word in _LABELS)
