"""Code for people: what a cure tells them to write."""

from __future__ import annotations

import ast

_ONE_PIECE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def receiver(expression: str) -> str:
    """What a method is called on, in brackets where the call would else take hold of its last part alone.

    >>> receiver("loss"), receiver("total / 10")
    ('loss', '(total / 10)')
    """
    try:
        is_one_piece = isinstance(ast.parse(expression, mode="eval").body, _ONE_PIECE)
    except (SyntaxError, ValueError):
        return expression  # words that stand for a name
    return expression if is_one_piece else f"({expression})"
