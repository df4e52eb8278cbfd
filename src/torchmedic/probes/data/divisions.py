"""Follows what a line made of groups to the division by their spread, by the names it passes through."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import field

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import parsed

_SPREAD = {"std", "var", "stddev", "stddev_samp", "nanstd", "ptp", "zscore", "sem", "mad"}
_MOST_SWEEPS = 6
_GROUPING = {"groupby", "group_by", "over"}
_DIVIDING = ("div", "truediv", "divide", "true_divide", "div_")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@late_dataclass()
class Followed:
    """What became of a line: whether a spread was taken, where it divides, and which names and texts occur.

    Where a division was found, they are those of the statements that lead to it, and of no other.
    """

    spread: bool = False
    division: int | None = None
    function: str = ""
    named: dict[str, None] = field(default_factory=dict)


@functools.lru_cache(maxsize=256)
def followed(filename: str, line: int) -> Followed | None:
    """Follow the groups that are made on a line; None where the source is not there."""
    tree = parsed(filename)
    if tree is None:
        return None
    placed = list(_placed(tree, tree))
    around = [p for p in placed if p[1].lineno <= line <= (p[1].end_lineno or p[1].lineno)]
    if not around:
        return None
    scope, start = min(around, key=lambda p: (p[1].end_lineno or p[1].lineno) - p[1].lineno)
    trail = _Trail(tree)
    trail.add(scope, start, is_start=True)
    left = sorted((p for p in placed if p[1] is not start and not _is_before(p, scope, start)), key=_line)
    for _ in range(_MOST_SWEEPS):
        met = [p for p in left if trail.meets(*p)]
        left = [p for p in left if p not in met]
        if not met or trail.found.division is not None:
            break
    return trail.found


def _placed(scope: ast.AST, node: ast.AST) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Every statement with the function (or the module) that its names belong to."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield scope, child
        yield from _placed(child if isinstance(child, _Function) else scope, child)


def _line(placed: tuple[ast.AST, ast.stmt]) -> int:
    return placed[1].lineno


def _is_before(placed: tuple[ast.AST, ast.stmt], scope: ast.AST, start: ast.stmt) -> bool:
    return placed[0] is scope and placed[1].lineno < start.lineno


class _Trail:
    """The names that stand for groups (`about`), those among them that stand for a spread, and what was found.

    Names belong to a function; those of functions that return groups and attributes of `self` are known everywhere.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.found = Followed()
        self._functions = {node.name: node for node in ast.walk(tree) if isinstance(node, _Function)}
        self._about: dict[ast.AST | None, set[str]] = {None: set()}
        self._spreads: dict[ast.AST | None, set[str]] = {None: set()}
        self._made_of: dict[tuple[ast.AST | None, str], dict[str, None]] = {}

    def meets(self, scope: ast.AST, statement: ast.stmt) -> bool:
        """Add a statement that reads what stands for groups."""
        if not self._reads(scope, _head(statement)):
            return False
        self.add(scope, statement)
        return True

    def add(self, scope: ast.AST, statement: ast.stmt, is_start: bool = False) -> None:
        head = _head(statement)
        words = self._words_behind(scope, head)
        for node in head:
            self._divisions(scope, node, words, everything=is_start)
        if not is_start and _groups_anew(head):
            return  # what it makes are other groups
        if self.found.division is None:
            self.found.named |= words
        for node in head:
            self._called(scope, node, words)
        is_spread = self._is_spread(scope, head)
        self.found.spread |= is_spread
        for where, name in _bound(scope, statement):
            self._stands_for_groups(where, name, is_spread, words)

    def _stands_for_groups(self, scope: ast.AST | None, name: str, is_spread: bool, words: dict[str, None]) -> None:
        self._about.setdefault(scope, set()).add(name)
        self._made_of.setdefault((scope, name), {}).update(words)
        if is_spread:
            self._spreads.setdefault(scope, set()).add(name)

    def _words_behind(self, scope: ast.AST, nodes: Sequence[ast.AST]) -> dict[str, None]:
        """The words of a statement, and those of the statements that made what it reads."""
        words = dict.fromkeys(word for node in nodes for word in _words(node))
        for name in [name for node in nodes for name in _names(node)]:
            words |= self._made_of.get((scope, name), {}) | self._made_of.get((None, name), {})
        return words

    def _reads(self, scope: ast.AST, nodes: Sequence[ast.AST]) -> bool:
        known = self._about[None] | self._about.get(scope, set())
        return any(name in known for node in nodes for name in _names(node))

    def _is_spread(self, scope: ast.AST, nodes: Sequence[ast.AST]) -> bool:
        ours = self._about[None] | self._about.get(scope, set())
        words = {word for node in nodes for word in _words(node)}
        # A variable `std` that did not come from these groups is the spread of others.
        words -= {name for node in nodes for name in _variables(node)} - ours
        known = self._spreads[None] | self._spreads.get(scope, set())
        return bool(words & (_SPREAD | known)) or {"max", "min"} <= words

    def _divisions(self, scope: ast.AST, node: ast.AST, words: dict[str, None], everything: bool) -> None:
        for part in ast.walk(node):
            divisor = _divisor(part)
            if divisor is None or self.found.division is not None:
                continue
            if not everything and _groups_anew([divisor]):
                continue
            if (everything or self._reads(scope, [divisor])) and self._is_spread(scope, [divisor]):
                self.found.division = divisor.lineno
                self.found.function = getattr(scope, "name", "<module>")
                self.found.named, self.found.spread = words, True

    def _called(self, scope: ast.AST, node: ast.AST, words: dict[str, None]) -> None:
        """Functions called with what stands for groups, or handed to `transform`, `apply` and the like."""
        for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
            called = _last(call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ""
            function = self._functions.get(called)
            for parameter, given in zip(_parameters(function), call.args, strict=False):
                if self._reads(scope, [given]):
                    self._stands_for_groups(function, parameter, self._is_spread(scope, [given]), words)
            for given in call.args:
                handed = self._functions.get(given.id) if isinstance(given, ast.Name) else None
                for parameter in _parameters(handed)[:1]:
                    self._stands_for_groups(handed, parameter, False, words)


def _groups_anew(nodes: Sequence[ast.AST]) -> bool:
    called = (part.func for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(isinstance(function, ast.Attribute) and function.attr in _GROUPING for function in called)


def _parameters(function: _Function | None) -> list[str]:
    names = [argument.arg for argument in function.args.args] if function is not None else []
    return names[1:] if names[:1] == ["self"] else names


def _bound(scope: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.AST | None, str]]:
    """The names that hold what a statement made, each with its function; None for what is known everywhere."""
    if isinstance(statement, ast.Return) and isinstance(scope, _Function):
        yield None, scope.name
    for name, is_attribute in _targets(statement):
        yield None if is_attribute else scope, name


def _head(statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself computes, without the statements inside it."""
    if isinstance(statement, _Function | ast.ClassDef):
        return []
    inside = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return [node for node in ast.iter_child_nodes(statement) if not isinstance(node, inside)]


def _targets(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """Names that a statement binds, and whether each is an attribute; of `df["z"]` it is `df`."""
    given: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        given = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
        given = [statement.target]
    for target in given:
        for node in ast.walk(target):
            if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id != "self"):
                yield _last(node), isinstance(node, ast.Attribute)


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _names(node: ast.AST) -> Iterator[str]:
    """Names that are read; of `self.std` the last."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load):
            yield _last(part)


def _variables(node: ast.AST) -> Iterator[str]:
    """Plain names that are read and not called."""
    called = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) not in called:
            yield part.id


def _words(node: ast.AST) -> Iterator[str]:
    """Every name, attribute, keyword and text."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute):
            yield _last(part)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.keyword) and part.arg:
            yield part.arg


def _divisor(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.right
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DIVIDING:
        return node.args[-1] if node.args else None
    return None
