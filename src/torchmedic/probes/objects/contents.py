"""What a dictionary of the script's holds, read without running any code of the script's."""

from __future__ import annotations

from typing import Any


def pairs_in(held: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Keys and values that lie in a dictionary itself.

    A subclass may make its values as they are asked for: a table of models by name imports each of them.

    >>> class Made(dict):
    ...     def items(self):
    ...         raise ImportError
    >>> pairs_in(Made(a=1))
    [('a', 1)]
    """
    return list(dict.items(held))
