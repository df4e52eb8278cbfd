"""Values that a script prepares and never uses: marks of padding or of an episode's end, results of `append`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name

_ENDS = re.compile(r"(^|_)(dones?|terminals?|terminated)$")
_MASK = re.compile(r"(^|_)mask$")
_DISCOUNT = re.compile(r"(^|[._])(gamma|discount)$", re.IGNORECASE)
_IN_PLACE = frozenset(("append", "extend", "insert", "sort", "reverse", "clear", "remove"))
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@late_dataclass(frozen=True)
class Unused:
    """A name that is given a value nobody reads; `target` is the sum of reward and later value that lacks it."""

    name: str
    text: str
    line: int
    target: ast.stmt | None = None


class _Store(NamedTuple):
    value: ast.expr
    lineno: int


def unused_marks(function: _Function) -> Iterator[Unused]:
    """Masks and ends of episodes that a function computes, and does not read.

    >>> text = "def learn(b):\\n  done = t(b[1])\\n  target = b[0] + gamma * nxt\\n  return target"
    >>> [(each.name, each.target.lineno) for each in unused_marks(ast.parse(text).body[0])]
    [('done', 3)]
    >>> text = "def learn(b):\\n  r, dones = zip(*b)\\n  r, dones = t(r), t(dones)\\n  return fit(r + gamma * later)"
    >>> [(each.name, each.target.lineno) for each in unused_marks(ast.parse(text).body[0])]
    [('dones', 4)]
    """
    if any(isinstance(node, ast.Call) and called_name(node) in ("locals", "vars") for node in ast.walk(function)):
        return
    for name, stores in _stores(function).items():
        if _is_read(function, name, stores):
            continue
        last = stores[-1]
        target = _bootstrap(function) if _ENDS.search(name) else None
        is_compared = any(isinstance(node, ast.Compare) for node in ast.walk(last.value))
        if target is not None or (_MASK.search(name) and is_compared):
            yield Unused(name, ast.unparse(last.value), last.lineno, target)


def _stores(function: _Function) -> dict[str, list[_Store]]:
    found: dict[str, list[_Store]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for target, value in _pairs(node.targets[0], node.value):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(_Store(value, node.lineno))
    return {name: sorted(those, key=lambda each: each.lineno) for name, those in found.items()}


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is given which value; all names of an unpacking have the whole of it."""
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else []
    yield from zip(targets, values if len(values) == len(targets) else [value] * len(targets), strict=True)


def _is_read(function: _Function, name: str, stores: list[_Store]) -> bool:
    """Whether a name is read elsewhere than to make a new value of the same name."""
    converting = {id(node) for store in stores for node in ast.walk(store.value)}
    for node in ast.walk(function):
        is_read = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if is_read and id(node) not in converting:
            return True
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
    return False


def _bootstrap(function: _Function) -> ast.stmt | None:
    """The statement that adds the discounted value of the next state to the reward."""
    for statement in ast.walk(function):
        value = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
        for node in ast.walk(value) if value is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_discounted(node.right):
                return statement  # type: ignore[return-value]
    return None


def _is_discounted(node: ast.expr) -> bool:
    factors = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else []
    return any(_DISCOUNT.search(ast.unparse(factor)) for factor in factors)


def results_of_nothing(tree: ast.Module) -> Iterator[tuple[Any, str]]:
    """Calls that change a list of the script and answer None, where their answer is used, and for what.

    >>> [(call.lineno, use) for call, use in results_of_nothing(ast.parse("a = [1]\\nf(b=a.append(2))"))]
    [(2, 'b')]
    """
    lists = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.ListComp))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for value, use in _used_values(tree):
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _IN_PLACE and getattr(called.value, "id", "") in lists:
            yield value, use


def _used_values(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Arguments of calls, and what is assigned to a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((argument, "") for argument in node.args)
            yield from ((keyword.value, keyword.arg or "") for keyword in node.keywords)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.value, node.targets[0].id
