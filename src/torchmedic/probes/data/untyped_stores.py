"""Lines that put values into parts of an array whose type nobody said: it took over that of another."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from torchmedic.facts import UnseenStores
from torchmedic.late import late_dataclass
from torchmedic.probes.data.cut_fields import ROUNDING
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import shown_path
from torchmedic.probes.source.making_lines import own_nodes
from torchmedic.probes.source.sources import user_files

_LIKE = {"zeros_like": 1, "empty_like": 1, "ones_like": 1, "full_like": 2}
_TAKING = {"array": 1, "asarray": 1, "tensor": 1, "as_tensor": 1, "full": 2}  # how many arguments before the type
_COPIES = ("copy", "clone")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCALING = (ast.Mult, ast.Div, ast.Pow)
_WHOLE = (ast.Compare, ast.BoolOp, ast.Constant, ast.JoinedStr)


@late_dataclass(frozen=True)
class Store:
    """A line that assigns to a part of an array, and the expression that made the array in the same function."""

    array: str
    node: ast.Assign | ast.AugAssign
    made: ast.Call

    @property
    def value(self) -> ast.expr:
        """What is put there, with what stood there before where the line adds to it."""
        if isinstance(self.node, ast.Assign):
            return self.node.value
        return ast.BinOp(self.node.target, self.node.op, self.node.value)


@functools.lru_cache(maxsize=64)
def stores_of(file: str) -> dict[int, Store]:
    """All such lines of a file, by number."""
    tree = parsed(file)
    scopes = [tree, *(n for n in ast.walk(tree) if isinstance(n, _FUNCTIONS))] if tree is not None else []
    return {store.node.lineno: store for scope in scopes for store in _stores_in(scope)}


def unseen_stores(step: int) -> Iterator[UnseenStores]:
    """The lines of all the user's files, where there are any."""
    lines = tuple(f"{shown_path(file)}:{line}" for file in user_files() for line in stores_of(file))
    if lines:
        yield UnseenStores(step=step, lines=lines)


def _stores_in(scope: ast.AST) -> Iterator[Store]:
    nodes = list(own_nodes(scope))
    made = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _takes_type(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes if made else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        base = target.value if isinstance(target, ast.Subscript) else None
        if not isinstance(node, (ast.Assign, ast.AugAssign)) or not isinstance(base, ast.Name) or base.id not in made:
            continue
        if node.lineno > made[base.id].lineno and _may_have_fractions(node.value, nodes):
            yield Store(base.id, node, made[base.id])


def _takes_type(call: ast.Call) -> bool:
    """Whether a call makes an array of whatever type its argument has.

    >>> texts = ("np.zeros_like(r)", "np.zeros_like(r, float)", "np.full(9, 0)", "np.array(r, dtype=int)", "r.copy()")
    >>> [_takes_type(ast.parse(text, mode="eval").body) for text in texts]
    [True, False, True, False, True]
    """
    name = called_name(call)
    if name in _COPIES:
        return isinstance(call.func, ast.Attribute) and not call.args
    most = (_LIKE | _TAKING).get(name)
    return most is not None and 0 < len(call.args) <= most and all(given.arg != "dtype" for given in call.keywords)


def _may_have_fractions(value: ast.expr, nodes: list[ast.AST]) -> bool:
    """Whether an expression multiplies or divides, or a variable in it was made so in the same function.

    What calls something could not be worked out without running it once more.
    """
    if isinstance(value, _WHOLE) or any(isinstance(node, ast.Call) for node in ast.walk(value)):
        return False
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    bound = [n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign)) and _targets(n) & names]
    is_scaled = any(isinstance(n, ast.AugAssign) and isinstance(n.op, _SCALING) for n in bound)
    return is_scaled or any(map(_scales, (value, *(n.value for n in bound))))


def _scales(value: ast.expr) -> bool:
    nodes = list(ast.walk(value))
    calls = {called_name(node) for node in nodes if isinstance(node, ast.Call)}
    if isinstance(value, _WHOLE) or calls & (ROUNDING | {"int", "astype", "long", "len", "range"}):
        return False
    has_float = any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in nodes)
    arithmetic = any(isinstance(node, ast.BinOp) and isinstance(node.op, _SCALING) for node in nodes)
    return has_float or arithmetic or bool(calls & {"float", "item"})


def _targets(node: ast.Assign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}
