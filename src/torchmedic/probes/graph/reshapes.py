"""Views that put dimensions into another order, which only a `permute` can do."""

from __future__ import annotations

from typing import Literal

Way = Literal["order", "split", "merge"]


def swapped(before: tuple[int, ...], after: tuple[int, ...]) -> Way | None:
    """How a view from one shape to another mixes what dimensions hold; None where it does not, or cannot be told.

    >>> swapped((8, 32, 32, 3), (8, 3, 32, 32)), swapped((8, 10, 16), (10, 8, 16)), swapped((8, 1, 28, 28), (8, 28, 28))
    ('order', 'order', None)
    >>> swapped((8, 10, 64), (8, 4, 10, 16)), swapped((8, 4, 10, 16), (8, 10, 64)), swapped((8, 10, 64), (8, 10, 4, 16))
    ('split', 'merge', None)
    """
    first, second = _larger_than_one(before), _larger_than_one(after)
    if first != second and sorted(first) == sorted(second):
        return "order"
    if _splits_heads(first, second):
        return "split"
    if _splits_heads(second, first):
        return "merge"
    return None


def _larger_than_one(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n > 1)


def _splits_heads(whole: tuple[int, ...], parts: tuple[int, ...]) -> bool:
    """`(B, T, H * D)` against `(B, H, T, D)`: positions have gone behind the heads."""
    if len(whole) != 3 or len(parts) != 4:
        return False
    batch, positions, width = whole
    heads = parts[1]
    return parts == (batch, heads, positions, width // heads) and heads * parts[3] == width and heads != positions
