"""Whether the first layer is given bytes that were divided by 255 two times, and the lines that divide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from torchmedic.facts import Location, ScaledTwice
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.rows import tokens
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_ONCE = 1 / 255
_TWICE = 255 * 255
_LEAST_LEVELS = 16
_OFF_GRID = 0.02
_MOST_CHANNELS = 4
_NARROW = 0.05
_FAR_OFF = 20
_TARGETS = frozenset(("mask", "masks", "label", "labels", "target", "targets", "gt", "y"))
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
    """What is strange about an input of up to 1/255: its numbers are those of bytes, divided by 255 · 255.

    The second time may be by a normalisation whose mean and spread are those of bytes: then pixels hardly vary.
    """
    low, high = (float(end) for end in torch.aminmax(values))
    if _is_flat(values):
        return _normalised_as_bytes(values, layer, step, (low, high))
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
        low=low,
        high=high,
        levels=count,
        where=again.where,
        text=again.text,
        before=before.where,
        before_text=before.text,
    )


def _is_flat(values: torch.Tensor) -> bool:
    """Images in each of whose channels all pixels are next to one number that is far from 0."""
    if values.ndim != 4 or values.shape[1] > _MOST_CHANNELS:
        return False
    low, high = values.amin((0, 2, 3)), values.amax((0, 2, 3))
    width = high - low
    return bool(((width > 0) & (width < _NARROW) & ((low + high).abs() / 2 > _FAR_OFF * width)).all())


def _normalised_as_bytes(values: torch.Tensor, layer: str, step: int, ends: tuple[float, float]) -> ScaledTwice | None:
    """The division of the images, and the line that takes them for bytes once more."""
    own = [division for file in user_files() for division in _divisions(file)]
    first = next((division for division in own if not tokens(division.text) & _TARGETS), None)
    again = next((line for file in user_files() for line in _takes_bytes(file)), None)
    levels = len(torch.unique(values[:, 0]))
    if first is None or again is None or levels < _LEAST_LEVELS:
        return None
    return ScaledTwice(
        step=step,
        layer=layer,
        shape=tuple(values.shape),
        low=ends[0],
        high=ends[1],
        levels=levels,
        where=first.where,
        text=first.text,
        before=again.where,
        before_text=again.text,
        is_normalised=True,
    )


def _takes_bytes(file: str) -> Iterator[_Division]:
    """Where mean and spread are multiplied by 255, or pixels divided by it, by way of a parameter; Albumentations."""
    tree = parsed(file)
    if tree is None:
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {name for function in functions for name in _parameters_of_255(function)}
    is_imported = any(map(_imports_albumentations, ast.walk(tree)))
    for scope, statement in _statements(tree, ""):
        for node in ast.walk(statement):
            is_by_name = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))
            named = node.right if is_by_name and isinstance(node, ast.BinOp) else None
            is_scaled = isinstance(named, (ast.Name, ast.Attribute)) and ast.unparse(named).rpartition(".")[2] in names
            if is_scaled or (is_imported and isinstance(node, ast.Call) and _is_library_normalisation(node)):
                yield _Division(location(file, node.lineno, scope), ast.unparse(node))  # type: ignore[attr-defined]


def _imports_albumentations(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("albumentations")
    return isinstance(node, ast.Import) and any(alias.name.startswith("albumentations") for alias in node.names)


def _parameters_of_255(function: ast.FunctionDef) -> Iterator[str]:
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [*zip(positional[::-1], given.defaults[::-1], strict=False)]
    pairs += [(arg, value) for arg, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None]
    yield from (arg.arg for arg, value in pairs if _is_255(value, set()))


def _is_library_normalisation(call: ast.Call) -> bool:
    told = [given.value for given in call.keywords if given.arg == "max_pixel_value"]
    return called_name(call) == "Normalize" and all(_is_255(value, set()) for value in told)


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
