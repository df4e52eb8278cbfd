"""Functions that freeze what they are given and can never thaw it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@late_dataclass(frozen=True)
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
