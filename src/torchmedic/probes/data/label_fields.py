"""Which field of a batch holds labels, and which repeats its tokens as labels, with the line that fills it."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import Location
from torchmedic.probes.data.filled_rows import Fields
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.making_lines import Place, line_made, scope_around
from torchmedic.probes.source.sources import user_nodes

_LABEL_KEYS = ("label", "labels", "target", "targets", "y")


def labels_of(batch: Any) -> tuple[str, torch.Tensor | None]:
    """The field of a batch that holds one label per sample."""
    if isinstance(batch, dict):
        for key in _LABEL_KEYS:
            if isinstance(batch.get(key), torch.Tensor):
                return key, batch[key]
    if isinstance(batch, (list, tuple)) and len(batch) > 1 and isinstance(batch[-1], torch.Tensor):
        return f"[{len(batch) - 1}]", batch[-1]
    return "", None


def are_labels_set_aside(frame: FrameType | None) -> bool:
    """Whether the loop at whose head a frame stands drops the last field of a batch: `for images, _ in loader`."""
    tree = parsed(frame.f_code.co_filename) if frame is not None else None
    if frame is None or tree is None:
        return False
    now, scope = frame.f_lineno or 0, enclosing_function(tree, frame)
    loops = [n for n in ast.walk(scope) if isinstance(n, ast.For) and n.lineno <= now < n.body[0].lineno]
    fields = _parts(loops[0].target) if loops else []
    if len(fields) == 2 and isinstance(fields[0], ast.Name):  # for i, (images, _) in enumerate(loader)
        fields = _parts(fields[1]) or fields
    last = fields[-1] if len(fields) > 1 else None
    names = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return isinstance(last, ast.Name) and last.id not in {n.id for n in names}


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else []


def copied_field(fields: Fields, ids: torch.Tensor) -> str:
    """The key of a batch, other than that of the tokens themselves, under which the very same numbers stand."""
    same = [
        key
        for key, field in fields.items()
        if isinstance(key, str) and field.shape == ids.shape and torch.equal(field.cpu(), ids)
    ]
    return same[-1] if len(same) > 1 else ""


def field_line(key: str) -> Location | None:
    """The only line of the user's files that puts something under a key: `{"labels": …}`, `x["labels"] = …`.

    Where that is a variable, the line that made it.
    """
    found = [(file, value) for file, node in user_nodes() for value in _values(node, key)] if key else []
    tree = parsed(found[0][0]) if len({(file, value.lineno) for file, value in found}) == 1 else None
    return line_made(Place(found[0][0], scope_around(tree, found[0][1]), found[0][1])) if tree is not None else None


def _values(node: ast.AST, key: str) -> list[ast.expr]:
    if isinstance(node, ast.Dict):
        items = zip(node.keys, node.values, strict=True)
        return [value for k, value in items if isinstance(k, ast.Constant) and k.value == key]
    targets = node.targets if isinstance(node, ast.Assign) else []
    slices = [target.slice for target in targets if isinstance(target, ast.Subscript)]
    is_put = any(isinstance(part, ast.Constant) and part.value == key for part in slices)
    return [node.value] if is_put and isinstance(node, ast.Assign) else []
