"""The statements of a script that split its data and that multiply rows before the split."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.probes.objects.name_paths import user_modules
from torchmedic.probes.objects.rows import TEST_WORDS, tokens
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location

_SPLITTING = frozenset(("train_test_split", "random_split", "split", "KFold", "StratifiedShuffleSplit"))
_MULTIPLYING = frozenset(
    ("resample", "fit_resample", "repeat", "repeat_interleave", "tile", "choice", "choices", "sample")
)


def split_and_multiplication() -> tuple[Location | None, Location | None]:
    """The line that splits into training and test data, and the line before it that makes copies of rows."""
    for module in user_modules():
        tree = parsed(str(module.__file__))
        if tree is None:
            continue
        statements: list[ast.Assign | ast.Return] = [*_assignments(tree), *_returns(tree)]
        for statement in statements:
            if isinstance(statement, ast.Return):
                is_split = statement.value is not None and _has_two_ends(statement.value)
            else:
                is_split = bool(_called(statement) & _SPLITTING) or _is_cut(statement)
                is_split &= any(tokens(n) & TEST_WORDS for n in (*_targets(statement), *_held_by(statement)))
            copied = _copying(tree, statement) if is_split else None
            if is_split and (copied is not None or isinstance(statement, ast.Assign)):
                place = location(str(module.__file__), statement.lineno)
                return place, location(str(module.__file__), copied.lineno) if copied is not None else None
    return None, None


def split_line() -> Location | None:
    """The line that splits into training and test data, be it in a function that returns both."""
    split = split_and_multiplication()[0]
    if split is not None:
        return split
    for module in user_modules():
        tree = parsed(str(module.__file__))
        for statement in _returns(tree) if tree is not None else ():
            if statement.value is not None and _has_two_ends(statement.value):
                return location(str(module.__file__), statement.lineno)
    return None


def _is_cut(statement: ast.Assign) -> bool:
    """`tr, te = order[:800], order[800:]`: several names, each a slice."""
    parts = statement.value.elts if isinstance(statement.value, ast.Tuple) else ()
    return len(parts) > 1 and all(isinstance(p, ast.Subscript) and isinstance(p.slice, ast.Slice) for p in parts)


def _has_two_ends(value: ast.expr) -> bool:
    """`(x[:cut], y[:cut]), (x[cut:], y[cut:])`: what lies before a place, and what lies behind it."""
    slices = [n.slice for n in ast.walk(value) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice)]
    before = {ast.unparse(part.upper) for part in slices if part.lower is None and part.upper is not None}
    behind = {ast.unparse(part.lower) for part in slices if part.upper is None and part.lower is not None}
    return bool(before & behind)


def _copying(tree: ast.Module, split: ast.Assign | ast.Return) -> ast.Assign | None:
    """Follow the names that the split reads back to a statement that draws rows with replacement."""
    wanted, best = _read(split.value) if split.value is not None else set(), None
    own = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for statement in sorted(_assignments(tree), key=lambda s: -s.lineno):
        if statement.lineno >= split.lineno or not set(_targets(statement)) & wanted:
            continue
        if any(_replaces(part) for part in (statement, *(own[n] for n in _called(statement) if n in own))):
            best = statement
        wanted |= _read(statement.value)
    return best


def _replaces(part: ast.AST) -> bool:
    """`sample` and `choice` copy rows only with `replace=True`; the others always do."""
    for call in (n for n in ast.walk(part) if isinstance(n, ast.Call)):
        name = _name(call.func)
        if name in _MULTIPLYING:
            replace = next((k.value for k in call.keywords if k.arg == "replace"), None)
            said = isinstance(replace, ast.Constant) and bool(replace.value)
            if (
                said
                or (replace is None and name not in ("sample", "resample"))
                or (replace is None and name == "resample")
            ):
                return True
    return False


def _assignments(tree: ast.Module) -> Iterator[ast.Assign]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Assign))


def _returns(tree: ast.Module) -> Iterator[ast.Return]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Return))


def _targets(statement: ast.Assign) -> list[str]:
    return [n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)]


def _held_by(statement: ast.Assign) -> list[str]:
    """`val_set` of `self.train_set, self.val_set = …`."""
    return [n.attr for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Attribute)]


def _called(statement: ast.Assign) -> set[str]:
    return {_name(n.func) for n in ast.walk(statement.value) if isinstance(n, ast.Call)}


def _read(value: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
