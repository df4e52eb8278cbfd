"""Finds the line of the user's source that first takes a mean or a spread over an array of data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.making_lines import Place, own_nodes
from torchmedic.probes.source.sources import user_files

_STATISTICS = frozenset(
    (
        *("mean", "std", "var", "std_mean", "var_mean", "min", "max", "amin", "amax", "aminmax", "median", "quantile"),
        *("fit", "fit_transform", "normalize", "average", "percentile"),
    )
)


def statistics_line(word: str, owner: str, made: Place | None) -> Location | None:
    """The first statement that computes with `word`, a variable or an attribute of data sets of the class `owner`."""
    for file in user_files():
        tree = parsed(file)
        for scope, is_inside in _scopes(tree, owner) if tree is not None else ():
            if not owner and made is not None and scope is not made.scope:
                continue
            line = _first_statistic(scope, word, bool(owner), is_inside)
            if line:
                return location(file, line, getattr(scope, "name", ""))
    return None


def _scopes(tree: ast.Module, owner: str) -> Iterator[tuple[ast.AST, bool]]:
    """The module and its functions, with whether they are methods of the owner."""
    methods = {id(m) for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and c.name == owner for m in c.body}
    yield tree, False
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, id(node) in methods


def _first_statistic(scope: ast.AST, word: str, is_attribute: bool, is_inside: bool) -> int:
    """Follow what is made of the array from statement to statement, to the first that takes a statistic of it."""
    names = set() if is_attribute else {word}
    statements = [n for n in own_nodes(scope) if isinstance(n, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return))]
    for statement in sorted(statements, key=lambda node: node.lineno):
        if statement.value is None:
            continue
        for call in ast.walk(statement.value):
            if isinstance(call, ast.Call) and called_name(call) in _STATISTICS:
                read = [call.func.value] if isinstance(call.func, ast.Attribute) else []
                if any(_mentions(part, names, word, is_attribute, is_inside) for part in (*read, *call.args)):
                    return call.lineno
        if _mentions(statement.value, names, word, is_attribute, is_inside):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return 0


def _mentions(value: ast.AST, names: set[str], word: str, is_attribute: bool, is_inside: bool) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in names:
            return True
        is_word = is_attribute and isinstance(node, ast.Attribute) and node.attr == word
        if is_word and (ast.unparse(node).startswith("self.")) == is_inside:
            return True
    return False
