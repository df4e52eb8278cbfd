"""Finds the call that hands a value to the small method which stores it: there the value can still be cut off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location

CUTTING = (".item(", ".detach(", "float(", ".tolist(", ".numpy(", ".data")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def handing_call(
    files: list[str], owner: str, scope: ast.AST, value: ast.expr, slot: Any
) -> tuple[Location, str] | None:
    """The call of a method that stores one of its own arguments, and what it is given.

    `owner` is how the script reaches the object; where no call is written like that, the only call of that method is
    taken. `slot` is the place of the stored thing in what one call adds.
    """
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) or not owner:
        return None
    found = []
    for file, call in _calls(files, scope):
        given = _given(call, scope, part_at(value, slot), slot)
        if given is not None and not any(cut in ast.unparse(given) for cut in CUTTING):
            found.append((file, call, ast.unparse(given)))
    written_so = [each for each in found if ast.unparse(each[1].func.value) == owner]
    fitting = written_so or (found if len(found) == 1 == len(list(_calls(files, scope))) else [])
    return (location(fitting[0][0], fitting[0][1].lineno), fitting[0][2]) if fitting else None


def _calls(files: list[str], scope: _Function) -> Iterator[tuple[str, Any]]:
    """Calls of a method of this name, but for those that it makes itself."""
    inside = {id(node) for node in ast.walk(scope)}
    for file in files:
        tree = parsed(file)
        for node in ast.walk(tree) if tree is not None else ():
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == scope.name and id(node) not in inside:
                yield file, node


def part_at(value: ast.expr, slot: Any) -> ast.expr:
    """What is stored at a slot of a tuple or a dictionary that is written out."""
    if isinstance(value, (ast.Tuple, ast.List)) and isinstance(slot, int) and slot < len(value.elts):
        return value.elts[slot]
    if isinstance(value, ast.Dict):
        keys = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
        return value.values[keys.index(slot)] if slot is not None and slot in keys else value
    return value


def _given(call: ast.Call, scope: _Function, part: ast.expr, slot: Any) -> ast.expr | None:
    """What a call gives for the parameter that is stored; what a method stores of itself was not handed to it."""
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        part = part.value
    if not isinstance(part, ast.Name):
        return None
    named = {k.arg: k.value for k in call.keywords}
    positional = [a.arg for a in (*scope.args.posonlyargs, *scope.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    if scope.args.kwarg is not None and part.id == scope.args.kwarg.arg:
        return named.get(slot)
    if scope.args.vararg is not None and part.id == scope.args.vararg.arg:
        rest = call.args[len(positional) :]
        return rest[slot] if isinstance(slot, int) and slot < len(rest) else None
    if part.id in named:
        return named[part.id]
    if part.id not in positional or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    at = positional.index(part.id)
    return call.args[at] if at < len(call.args) else None
