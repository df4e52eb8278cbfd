"""Whether the first layer is given bytes that were divided by 255 two times, and the lines that divide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from torchmedic.facts import Location, ScaledTwice
from torchmedic.late import late_dataclass
from torchmedic.probes.expressions import called_name, parsed
from torchmedic.probes.frames import location
from torchmedic.probes.sources import user_files

_ONCE = 1 / 255
_TWICE = 255 * 255
_LEAST_LEVELS = 16
_OFF_GRID = 0.02
_DIVIDING = frozenset(("div", "div_", "divide", "true_divide"))
_LIBRARY = frozenset(("ToTensor", "to_tensor", "convert_image_dtype", "ConvertImageDtype"))
_CONVERTING = frozenset(
    ("float", "astype", "from_numpy", "tensor", "as_tensor", "array", "asarray", "imread", "open", "FloatTensor")
)


@late_dataclass(frozen=True)
class _Division:
    where: Location
    text: str
    is_library: bool = False
    converts: bool = False  # from bytes, in the same statement: it is likely the first


def scaled_twice(values: torch.Tensor, layer: str, step: int) -> ScaledTwice | None:
    """What is strange about an input of up to 1/255: its numbers are those of bytes, divided by 255 · 255."""
    low, high = (float(end) for end in torch.aminmax(values))
    if not (0 <= low < high <= 1.01 * _ONCE):
        return None
    levels = values.double() * _TWICE
    is_on_grid = bool(((levels - levels.round()).abs() <= _OFF_GRID).all())
    count = len(torch.unique(levels.round()))
    if not is_on_grid or count < _LEAST_LEVELS:
        return None
    divisions = [division for file in user_files() for division in _divisions(file)]
    own = [division for division in divisions if not division.is_library]
    again = next((division for division in reversed(own) if not division.converts), own[-1] if own else None)
    if again is None or len(divisions) < 2:
        return None
    before = next(division for division in divisions if division is not again)
    return ScaledTwice(
        step=step,
        layer=layer,
        shape=tuple(values.shape),
        high=high,
        levels=count,
        where=again.where,
        text=again.text,
        before=before.where,
        before_text=before.text,
    )


def _divisions(file: str) -> Iterator[_Division]:
    tree = parsed(file)
    if tree is None:
        return
    classes = {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_255(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    imported = {
        alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
    }
    for scope, statement in _statements(tree, ""):
        calls = {called_name(node) for node in ast.walk(statement) if isinstance(node, ast.Call)}
        for node in ast.walk(statement):
            if _divides(node, names):
                where = location(file, node.lineno, scope)  # type: ignore[attr-defined]
                yield _Division(where, ast.unparse(node), converts=bool(calls & _CONVERTING))
            elif isinstance(node, ast.Call) and called_name(node) in _LIBRARY - classes:
                is_library = isinstance(node.func, ast.Attribute) or _from_torchvision(
                    tree, called_name(node), imported
                )
                if is_library:
                    yield _Division(location(file, node.lineno, scope), ast.unparse(node), is_library=True)


def _from_torchvision(tree: ast.Module, name: str, imported: set[str]) -> bool:
    froms = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("torchvision")]
    return name in imported and any(name in (alias.asname, alias.name) for node in froms for alias in node.names)


def _statements(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.stmt]]:
    """The simple statements of a file, with the function that they stand in."""
    for child in ast.iter_child_nodes(node):
        name = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else scope
        if isinstance(child, ast.stmt) and not hasattr(child, "body"):
            yield scope, child
        else:
            yield from _statements(child, name)


def _divides(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and _is_255(node.right, names)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Div) and _is_255(node.value, names)
    return (
        isinstance(node, ast.Call)
        and called_name(node) in _DIVIDING
        and bool(node.args)
        and _is_255(node.args[-1], names)
    )


def _is_255(node: ast.expr | None, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 255
