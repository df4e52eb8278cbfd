"""Finds the lines that freeze parameters: which of them froze a given one, and which can never thaw any again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location
from torchmedic.probes.expressions import called_name, parsed
from torchmedic.probes.frames import location
from torchmedic.probes.sources import freezes, user_files, user_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True)
class _Freezing:
    """A line that switches gradients off: of what, and which words a name has to hold to be meant."""

    where: Location
    subject: str = ""
    tests: list[str] = field(default_factory=list)


def line_that_froze(parameter: torch.Tensor, path: str, names: list[dict[str, Any]]) -> Location | None:
    """Of the lines that freeze something, the one that speaks of a parameter with this path."""
    found = list(_freezings())
    best = max(found, key=lambda one: _fitness(one, parameter, path, names), default=None)
    return best.where if best is not None else None


def _fitness(one: _Freezing, parameter: torch.Tensor, path: str, names: list[dict[str, Any]]) -> int:
    told = 0
    if one.tests:
        told += 2 if any(test.strip(".") in path for test in one.tests) else -2
    words = _WORD.findall(one.subject)
    told += len(set(words[1:]) & set(path.split(".")))
    module = _looked_up(words, names)
    if isinstance(module, nn.Module):
        told += 2 if any(p is parameter for p in module.parameters()) else -3
    return told


def _looked_up(words: list[str], names: list[dict[str, Any]]) -> Any:
    thing = next((scope[words[0]] for scope in names if words and words[0] in scope), None)
    for word in words[1:]:
        thing = thing._modules.get(word) if isinstance(thing, nn.Module) else None
    return thing


def _freezings() -> Iterator[_Freezing]:
    for file in user_files():
        tree = parsed(file)
        loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)] if tree is not None else []
        for node in ast.walk(tree) if tree is not None else ():
            for line in freezes(node) if isinstance(node, ast.stmt) else ():
                around = [n for n in loops if n.lineno < line <= (n.end_lineno or 0)]
                loop = max(around, key=lambda n: n.lineno, default=None)
                subject = _subject(loop.iter) if loop is not None else _subject(getattr(node, "value", None))
                yield _Freezing(location(file, line), subject, list(_tests(loop, line)) if loop is not None else [])


def _subject(node: ast.AST | None) -> str:
    """`model.encoder` of `model.encoder.parameters()` and of `model.encoder.requires_grad_(False)`."""
    for call in ast.walk(node) if node is not None else ():
        owner = call.func if isinstance(call, ast.Call) else None
        if isinstance(owner, ast.Attribute) and owner.attr in ("parameters", "named_parameters", "requires_grad_"):
            return ast.unparse(owner.value)
    return ""


def _tests(loop: ast.For, line: int) -> Iterator[str]:
    for node in ast.walk(loop):
        if isinstance(node, ast.If) and node.lineno <= line <= (node.end_lineno or 0):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


# -- switches that only switch off -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OneWay:
    """A function that sets `requires_grad` only of what has it already, and the calls with False and with True."""

    where: Location
    function: str
    frozen: Location
    thawed: Location
    subject: str


def one_way_switches() -> Iterator[OneWay]:
    for file, function in user_nodes():
        if not isinstance(function, _FUNCTIONS):
            continue
        for line, flag in _guarded(function):
            calls = list(_calls(function, flag))
            off = {subject: where for subject, value, where in calls if value == "False"}
            for subject, value, where in calls:
                if value == "True" and subject in off:
                    yield OneWay(location(file, line, function.name), function.name, off[subject], where, subject)


def _guarded(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    """Lines `if p.requires_grad:` under which `p.requires_grad` is set to a parameter of the function."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Attribute) and node.test.attr == "requires_grad":
            for inner in (part for statement in node.body for part in ast.walk(statement)):
                is_same = isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]) == ast.unparse(node.test)
                if is_same and isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name):
                    yield node.lineno, inner.value.id


def _calls(function: ast.FunctionDef | ast.AsyncFunctionDef, flag: str) -> Iterator[tuple[str, str, Location]]:
    """What the function is called on, the value of the flag, and where."""
    names = [a.arg for a in function.args.args]
    names = names[1:] if names[:1] == ["self"] else names
    for file, call in user_nodes():
        if isinstance(call, ast.Call) and called_name(call) == function.name:
            given = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}
            others = [ast.unparse(value) for name, value in given.items() if name != flag]
            if flag in given:
                yield ", ".join(others), ast.unparse(given[flag]), location(file, call.lineno)
