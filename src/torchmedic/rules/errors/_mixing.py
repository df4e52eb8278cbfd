"""A `view(-1, …)` that mixed the samples of a batch: each has another number of values than it says."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchmedic.facts import LayerBuilt, Location, Run
from torchmedic.rules.errors._syntax import Code

_RESHAPES = ("view", "reshape")


@dataclass(frozen=True)
class Mixing:
    """The call, the width it asks for, the values that a sample really has, and the layer built for that width."""

    where: Location
    call: str
    width: int
    right: int
    layer: LayerBuilt | None


def mixing(run: Run, rows: int, batch: int) -> Mixing | None:
    """The one `view(-1, width)` that makes `rows` rows of `batch` samples; None where the numbers do not meet."""
    code = Code.of(run)
    found = [
        Mixing(code.place(file, node), f"{node.func.attr}(-1, {ast.unparse(node.args[1])})", width, right, built)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RESHAPES
        if len(node.args) == 2 and _number(node.args[0]) == -1
        for width in [_number(node.args[1])]
        if width and rows * width % batch == 0
        for right, built in [(rows * width // batch, _layer(run, width))]
    ]
    return found[0] if len(found) == 1 and rows != batch else None


def _layer(run: Run, width: int) -> LayerBuilt | None:
    return next((b for b in run.all(LayerBuilt) if b.settings.get("in_features") == str(width)), None)


def _number(node: ast.expr) -> int | None:
    """What a product of plain numbers comes to.

    >>> _number(ast.parse("16 * 5 * 5", mode="eval").body), _number(ast.parse("-1", mode="eval").body)
    (400, -1)
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _number(node.left), _number(node.right)
        return left * right if left is not None and right is not None else None
    return None
