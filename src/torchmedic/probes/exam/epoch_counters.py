"""Finds, in the user's source, what counts the steps of one epoch, and the line that makes a learning rate of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.making_lines import own_nodes
from torchmedic.probes.source.sources import user_files, user_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COUNTING = ("enumerate", "range")


def counted_anew() -> tuple[Location, str] | None:
    """The line that computes a rate from a counter of the inner loop alone, and the counter as it is called there."""
    inner, outer = _counters()
    for file, scope in _rate_scopes():
        here = {*inner, *_given_for(scope, inner)}
        besides = {*outer, *_given_for(scope, outer)}
        found = [
            (node.lineno, name)
            for node in own_nodes(scope)
            if isinstance(node, (ast.Assign, ast.Return)) and node.value is not None
            for name in sorted(here & _read(node.value))
            if not besides & _read(node.value) and any(isinstance(n, ast.BinOp) for n in ast.walk(node.value))
        ]
        if found:
            line, name = min(found)
            return location(file, line, getattr(scope, "name", "")), name
    return None


def _counters() -> tuple[set[str], set[str]]:
    """What the innermost loops around a backward pass count, and what all other loops count."""
    inner: set[str] = set()
    outer: set[str] = set()
    for _, loop in user_nodes():
        if isinstance(loop, ast.For):
            target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
            counted = {target.id} if isinstance(target, ast.Name) and _is_counting(loop) else set()
            within = [node for part in loop.body for node in ast.walk(part)]
            has_loop = any(isinstance(node, ast.For) and _goes_back(ast.walk(node)) for node in within)
            if _goes_back(within) and not has_loop:
                inner |= counted
            else:
                outer |= counted
                inner |= _set_back(loop) if has_loop else set()
    return inner - outer, outer


def _goes_back(nodes: Iterable[ast.AST]) -> bool:
    return any(isinstance(node, ast.Call) and called_name(node) == "backward" for node in nodes)


def _is_counting(loop: ast.For) -> bool:
    calls = (node for node in ast.walk(loop.iter) if isinstance(node, ast.Call))
    return any(called_name(call) in _COUNTING for call in calls)


def _set_back(loop: ast.For) -> set[str]:
    """Names that a loop sets to 0 at its beginning and that a loop inside it counts up."""
    zeroed = {
        target.id
        for part in loop.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant) and part.value.value in (0, 1)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    counted = {
        node.target.id
        for part in loop.body
        if isinstance(part, (ast.For, ast.While))
        for node in ast.walk(part)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add)
    }
    return zeroed & counted


def _rate_scopes() -> Iterator[tuple[str, ast.AST]]:
    """The functions (or modules) that set `group["lr"]`, then those that they ask for the value."""
    asked: set[str] = set()
    for file in user_files():
        tree = parsed(file)
        for scope in (tree, *_functions(tree)) if tree is not None else ():
            values = [value for node in own_nodes(scope) for value in _rates_set(node)]
            if values:
                yield file, scope
                calls = [n for n in own_nodes(scope) if isinstance(n, ast.Call)]
                asked |= {called_name(call) for call in calls}
    for file in user_files():
        tree = parsed(file)
        yield from ((file, f) for f in (_functions(tree) if tree is not None else ()) if f.name in asked)


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]


def _rates_set(node: ast.AST) -> Iterator[ast.expr]:
    for target in node.targets if isinstance(node, ast.Assign) else ():
        key = target.slice if isinstance(target, ast.Subscript) else None
        if isinstance(node, ast.Assign) and isinstance(key, ast.Constant) and key.value == "lr":
            yield node.value


def _given_for(scope: ast.AST, counters: set[str]) -> set[str]:
    """The parameters of a function that calls give one of the counters for."""
    if not isinstance(scope, _FUNCTIONS):
        return set()
    names = [a.arg for a in (*scope.args.posonlyargs, *scope.args.args)]
    plain = names[1:] if names[:1] == ["self"] else names
    found: set[str] = set()
    for _, call in user_nodes():
        if isinstance(call, ast.Call) and called_name(call) == scope.name:
            given = [*zip(plain, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
            found |= {name for name, value in given if name is not None and _read(value) & counters}
    return found & set(names)


def _read(value: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
