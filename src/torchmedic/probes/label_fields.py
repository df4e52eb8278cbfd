"""Which field of a batch holds labels, and which repeats its tokens as labels, with the line that fills it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import torch

from torchmedic.facts import Location
from torchmedic.probes.frames import location
from torchmedic.probes.sources import user_nodes

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


def copied_field(batch: Any, ids: torch.Tensor) -> str:
    """The key of a batch, other than that of the tokens themselves, under which the very same numbers stand."""
    fields = batch.items() if isinstance(batch, Mapping) else ()
    same = [
        str(key)
        for key, field in fields
        if isinstance(field, torch.Tensor) and field.shape == ids.shape and torch.equal(field.detach().cpu(), ids)
    ]
    return same[-1] if len(same) > 1 else ""


def field_line(key: str) -> Location | None:
    """The only line of the user's files that puts something under a key: `{"labels": …}`, `x["labels"] = …`."""
    found = {location(file, line) for file, node in user_nodes() for line in _lines(node, key)} if key else set()
    return found.pop() if len(found) == 1 else None


def _lines(node: ast.AST, key: str) -> list[int]:
    if isinstance(node, ast.Dict):
        keys = [k for k in node.keys if k is not None]
        return [k.lineno for k in keys if isinstance(k, ast.Constant) and k.value == key]
    targets = node.targets if isinstance(node, ast.Assign) else []
    slices = [target.slice for target in targets if isinstance(target, ast.Subscript)]
    return [part.lineno for part in slices if isinstance(part, ast.Constant) and part.value == key]
