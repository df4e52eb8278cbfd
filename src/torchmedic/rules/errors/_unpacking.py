"""Reads an unpacking: which part of its left side failed, what that part is given, and how its names would fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.rules.errors._syntax import dotted

Shape = str | tuple["Shape", ...]
# What ready-made layers return, by the names it is usually unpacked to.
RETURNS: dict[str, Shape] = {
    "LSTM": ("output", ("h_n", "c_n")),
    "GRU": ("output", "h_n"),
    "RNN": ("output", "h_n"),
    "MultiheadAttention": ("output", "weights"),
    "LSTMCell": ("h", "c"),
    "GRUCell": "h",
    "RNNCell": "h",
}


@dataclass(frozen=True)
class Part:
    """A tuple on the left side, and the way to it: `(1,)` for `(h, c)` in `out, (h, c)`."""

    target: ast.Tuple | ast.List
    path: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """As it is written; the outermost one stands without brackets.

        >>> Part(ast.parse("a, (b, c) = f()").body[0].targets[0]).text
        'a, (b, c)'
        """
        whole = ast.unparse(self.target)
        return whole if self.path else whole.removeprefix("(").removesuffix(")")


def parts_of(target: ast.expr, path: tuple[int, ...] = ()) -> Iterator[Part]:
    """The tuples of a left side, outermost first."""
    if isinstance(target, (ast.Tuple, ast.List)):
        yield Part(target, path)
        for i, item in enumerate(target.elts):
            yield from parts_of(item, (*path, i))


def at_fault(target: ast.expr, value: ast.expr, expected: str, span: str, given: Shape | None) -> Part | None:
    """The part that could not be unpacked: seen when it failed, or the only one that it can have been."""
    parts = list(parts_of(target))
    if span:
        return next((part for part in parts if _span(part.target) == span), None)
    number = int(expected.rpartition(" ")[2])
    fitting = [p for p in parts if sum(not isinstance(e, ast.Starred) for e in p.target.elts) == number]
    fitting = [p for p in fitting if not _always_fits(p, value, given)]
    return fitting[0] if len(fitting) == 1 else None


def _span(node: ast.expr) -> str:
    return f"{node.lineno}:{node.col_offset}-{node.end_lineno}:{node.end_col_offset}"


def _always_fits(part: Part, value: ast.expr, given: Shape | None) -> bool:
    """Whether this part gets as many values as it names, whatever the data: `i, …` of `enumerate`."""
    if part.path:
        return False
    count = len(part.target.elts)
    if given is not None:
        return not isinstance(given, str) and len(given) == count
    return count == _paired(value)


def _paired(value: ast.expr) -> int | None:
    """How many values each item of a loop's source has, for those that put items together."""
    if not isinstance(value, ast.Call):
        return None
    word = dotted(value.func).rpartition(".")[2]
    if word == "enumerate" or (word == "items" and not value.args):
        return 2
    return len(value.args) if word == "zip" else None


def source_of(value: ast.expr, path: tuple[int, ...]) -> tuple[ast.expr, tuple[int, ...]]:
    """What the part at a path is taken from: `loader` for `(x, y)` in `for i, (x, y) in enumerate(loader)`."""
    if isinstance(value, ast.Call) and value.args:
        word = dotted(value.func).rpartition(".")[2]
        if word == "tqdm" or (word == "enumerate" and path[:1] == (1,)):
            return source_of(value.args[0], path if word == "tqdm" else path[1:])
        if word == "zip" and path and path[0] < len(value.args):
            return source_of(value.args[path[0]], path[1:])
    return value, path


def fitted(target: ast.expr, given: Shape) -> str:
    """The left side that takes what is given, with the names that stand there.

    >>> left = ast.parse("out, (h, c) = gru(x)").body[0].targets[0]
    >>> fitted(left, ("output", "h_n")), fitted(left, ("output", ("h_n", "c_n"))), fitted(left, "h")
    ('out, h', 'out, (h, c)', 'out')
    """
    return _fit(target, given).removeprefix("(").removesuffix(")") if isinstance(given, tuple) else _fit(target, given)


def _fit(target: ast.expr, given: Shape) -> str:
    names = [ast.unparse(n) for n in _leaves(target)]
    if isinstance(given, str):
        return next((n for n in names if n != "_"), names[0] if names else given)
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(given):
        return f"({', '.join(_fit(one, part) for one, part in zip(target.elts, given, strict=True))})"
    return _filled(given, names)


def _filled(given: Shape, names: list[str]) -> str:
    """The form of what is given, with names taken from the front of a list as long as it lasts."""
    if isinstance(given, str):
        return names.pop(0) if names else given
    return f"({', '.join(_filled(part, names) for part in given)})"


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _leaves(item)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def inside(given: Shape | None, path: tuple[int, ...]) -> Shape | None:
    """What a part of the left side gets, of a layer whose results are known."""
    for step in path:
        if given is None or isinstance(given, str) or step >= len(given):
            return None
        given = given[step]
    return given
