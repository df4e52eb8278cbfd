"""The user's call that put the dimensions of a tensor in another order than a layer takes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchmedic.facts import Location
from torchmedic.rules.errors._syntax import Code


@dataclass(frozen=True)
class Reordering:
    """A call that puts dimensions in an order, and the call that would bring the channels first."""

    where: Location
    written: str
    instead: str


def reordering_behind(code: Code, sizes: tuple[int, ...], channels: int) -> Reordering | None:
    """The one call that explains why a batch has its channels in a later dimension; None where several might."""
    found = {(r.where.file, r.where.line): r for r in _reorderings(code, sizes, channels)}
    return next(iter(found.values())) if len(found) == 1 else None


def _reorderings(code: Code, sizes: tuple[int, ...], channels: int) -> Iterator[Reordering]:
    for place, call in code.calls("permute", "transpose"):
        order = _order(call)
        if len(order) < 3:  # a `transpose` of two dimensions names only those
            continue
        # Samples are turned one by one, or the whole batch is.
        result = sizes[1:] if len(order) == len(sizes) - 1 else sizes if len(order) == len(sizes) else ()
        at = len(result) - len(sizes) + 1
        if not result or sorted(order) != list(range(len(order))) or result[at] == channels:
            continue
        before = [result[order.index(axis)] for axis in range(len(order))]
        axes = [axis for axis, size in enumerate(before) if size == channels]
        if len(axes) != 1 or (at and order[0] != 0):
            continue
        rest = [axis for axis in range(at, len(order)) if axis != axes[0]]
        instead = (*range(at), axes[0], *rest)
        if instead != tuple(order):
            yield Reordering(place, ast.unparse(call), f"permute{instead}")


def _order(call: ast.Call) -> Sequence[int]:
    """The order of dimensions that a call asks for, where it is written in numbers."""
    given = [a for a in call.args if not isinstance(a, ast.Name)]
    listed = given[0].elts if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else given
    numbers = [a.value for a in listed if isinstance(a, ast.Constant) and isinstance(a.value, int)]
    return numbers if len(numbers) == len(listed) else ()
