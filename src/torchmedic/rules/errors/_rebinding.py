"""Updates by hand that put a new tensor in the place of a weight."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.rules.errors._syntax import Code


def replacing_update(code: Code) -> tuple[Location, str] | None:
    """The first assignment of what is computed from a gradient, without a graph, and the weight it replaces.

    It is one under `no_grad`, or one that ends in `.detach()` or `.data`, of a weight less something of its `.grad`.
    """
    for file, tree in code.trees.items():
        free = {id(node) for block in ast.walk(tree) if _is_grad_free(block) for node in ast.walk(block)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and _reads_weight_and_gradient(node.value):
                target = node.targets[0]
                is_cut = id(node) in free or _is_cut(node.value)
                if is_cut and isinstance(target, (ast.Name, ast.Subscript)):
                    return code.place(file, node), ast.unparse(target)
    return None


def _is_grad_free(node: ast.AST) -> bool:
    """A `with torch.no_grad()`, or a function under it."""
    if isinstance(node, ast.With):
        return any("no_grad" in ast.unparse(item.context_expr) for item in node.items)
    if isinstance(node, ast.FunctionDef):
        return any("no_grad" in ast.unparse(decorator) for decorator in node.decorator_list)
    return False


def _is_cut(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr == "detach"
    return isinstance(value, ast.Attribute) and value.attr == "data"


def _reads_weight_and_gradient(value: ast.expr) -> bool:
    """Whether a sum or difference holds both a tensor and the gradient of that tensor."""
    return any(isinstance(node, ast.BinOp) and set(_gradients(node)) & set(_read(node)) for node in ast.walk(value))


def _gradients(node: ast.AST) -> Iterator[str]:
    return (ast.unparse(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "grad")


def _read(node: ast.AST) -> Iterator[str]:
    """What is read as it is, not for an attribute of it."""
    owners = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    kinds = (ast.Name, ast.Subscript, ast.Attribute)
    return (ast.unparse(n) for n in ast.walk(node) if isinstance(n, kinds) and id(n) not in owners)
