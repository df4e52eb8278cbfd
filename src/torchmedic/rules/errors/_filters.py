"""Finds tests on names of layers and parameters whose words fit none of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchmedic.facts import Location
from torchmedic.rules.errors._following import texts_behind
from torchmedic.rules.errors._syntax import Code, dotted

_OF_NAMES = ("named_parameters", "named_modules", "named_children", "state_dict")
_OF_STATES = re.compile(
    r"(state|ckpt|checkpoint|weights|pretrained|params?)\w*(\[.*\]|\(\))*(\.items\(\)|\.keys\(\))?$"
)
_PREFIX_TESTS = ("startswith", "endswith")
_Loop = ast.For | ast.comprehension


@dataclass(frozen=True)
class Unmatched:
    """A word that is compared with names and fits none: where it is written, and where it is compared."""

    word: str
    written: Location
    compared: Location


def unmatched_words(code: Code, names: Sequence[str]) -> list[Unmatched]:
    """Words of tests in loops over names; a test with one word that fits is left alone."""
    found: list[Unmatched] = []
    for file, tree in code.trees.items():
        for test, word in _tests(tree):
            place = code.place(file, test)
            written = list(texts_behind(code, word, place))
            if written and not any(_fits(text, names) for _, text in written):
                found += [Unmatched(text, at, place) for at, text in written]
    return found


def _fits(word: str, names: Sequence[str]) -> bool:
    return any(word.strip(".") in name for name in names)


def _tests(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each comparison of a name with something, and that something."""
    for node in ast.walk(tree):
        loops: list[tuple[_Loop, list[ast.AST]]] = []
        if isinstance(node, ast.For):
            loops = [(node, [*node.body])]
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            loops = [(g, [*g.ifs]) for g in node.generators]
        for loop, body in loops:
            subject = _name_in(loop)
            if subject:
                yield from (pair for part in body for inner in ast.walk(part) for pair in _comparison(inner, subject))


def _name_in(loop: _Loop) -> str:
    """The variable that holds the name, in a loop over names (and what they name)."""
    over = ast.unparse(loop.iter)
    if dotted(loop.iter).rpartition(".")[2] not in _OF_NAMES and not _OF_STATES.search(over):
        return ""
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
    return first.id if isinstance(first, ast.Name) else ""


def _comparison(node: ast.AST, subject: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PREFIX_TESTS:
        if _mentions(node.func.value, subject) and node.args:
            yield node, node.args[0]
    elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
        left, right = node.left, node.comparators[0]
        if _mentions(left, subject) != _mentions(right, subject):
            yield node, right if _mentions(left, subject) else left


def _mentions(expression: ast.AST, subject: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == subject for n in ast.walk(expression))
