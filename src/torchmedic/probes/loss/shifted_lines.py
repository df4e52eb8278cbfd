"""Finds the line of the user's files that makes labels run one token ahead of the input."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_NAMED = re.compile(r"label|target|\by\b", re.IGNORECASE)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def shifting_line(file: str) -> Location | None:
    """The only statement that shifts labels, of the file that computes the loss or else of all the user's files."""
    files = [name for name in user_files() if parsed(name) is not None]
    for found in (_pairs(files), _shifts([file]), _shifts(files)):
        lines = {(at.file, at.line): at for at in found}
        if len(lines) == 1:
            return next(iter(lines.values()))
    return None


def labels_line() -> Location | None:
    """The only line that puts something under the name `labels` into a dict."""
    found = [
        location(file, value.lineno)
        for file in user_files()
        for node in _nodes(file)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "labels"
    ]
    return found[0] if len(found) == 1 else None


def decoder_line(file: str, where: Location | None) -> Location | None:
    """The line of the argument `decoder_input_ids` in the call at this place."""
    for node in _nodes(file):
        is_here = isinstance(node, ast.Call) and where and node.lineno <= where.line <= (node.end_lineno or 0)
        for keyword in node.keywords if isinstance(node, ast.Call) and is_here else ():
            if keyword.arg == "decoder_input_ids":
                return location(file, keyword.value.lineno)
    return None


def _nodes(file: str) -> Iterator[ast.AST]:
    tree = parsed(file) if file else None
    return ast.walk(tree) if tree is not None else iter(())


def _shifts(files: Iterable[str]) -> Iterator[Location]:
    """Labels that are taken from the second token on, or rolled back by one."""
    for file in files:
        for node in _nodes(file):
            from_second = isinstance(node, ast.Slice) and _is_number(node.lower, 1) and node.upper is None
            rolled = isinstance(node, ast.Call) and called_name(node) == "roll" and _rolls_back(node)
            if isinstance(node, ast.Slice | ast.Call) and (from_second or rolled):
                place = location(file, node.lineno)
                yield from [place] if _NAMED.search(place.source) else []


def _pairs(files: Iterable[str]) -> Iterator[Location]:
    """Two pieces cut out of one thing in one function, the second of which begins one later."""
    for file in files:
        for function in (node for node in _nodes(file) if isinstance(node, _FUNCTIONS)):
            cuts = [(ast.unparse(n.value), n.slice) for n in ast.walk(function) if isinstance(n, ast.Subscript)]
            pieces = [(base, cut) for base, cut in cuts if isinstance(cut, ast.Slice) and cut.step is None]
            firsts = {(base, _begin(cut)) for base, cut in pieces}
            yield from (location(file, cut.lineno) for base, cut in pieces if (base, _one_before(cut)) in firsts)


def _begin(cut: ast.Slice) -> str:
    return "0" if cut.lower is None else ast.unparse(cut.lower)


def _one_before(cut: ast.Slice) -> str:
    """The beginning that is one less than that of a piece; empty where its text does not tell."""
    lower = cut.lower
    if _is_number(lower, 1):
        return "0"
    if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Add) and _is_number(lower.right, 1):
        return ast.unparse(lower.left)
    return ""


def _is_number(node: ast.expr | None, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _rolls_back(call: ast.Call) -> bool:
    given = [*call.args[1:], *call.args[:1], *(k.value for k in call.keywords if k.arg == "shifts")]
    return any(isinstance(v, ast.UnaryOp) and isinstance(v.op, ast.USub) and _is_number(v.operand, 1) for v in given)
