"""Ids that a batch of graphs has shifted: PyG takes an attribute whose name contains `index` for numbers of nodes."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from torchmedic.facts import IdsShifted, Location
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.sources import user_nodes

_MOST_ATTRIBUTES = 100


def shifted_ids(error: BaseException, ids: torch.Tensor, bound: int) -> IdsShifted | None:
    """The attribute of a batch that these ids are, where each graph's own are all below the bound."""
    for batch in _batches(error):
        offsets, cuts = batch._inc_dict, batch._slice_dict
        for name in list(offsets)[:_MOST_ATTRIBUTES]:
            whole = getattr(batch, str(name), None)
            is_it = isinstance(whole, torch.Tensor) and whole.shape == ids.shape and torch.equal(whole, ids)
            found = _taken_back(ids, offsets[name], cuts.get(name), bound) if is_it else None
            if found is not None:
                minimum, maximum, offset = found
                return IdsShifted(
                    attribute=str(name),
                    graphs=len(offsets[name]),
                    minimum=minimum,
                    maximum=maximum,
                    offset=offset,
                    made=_given_at(str(name)),
                )
    return None


def _batches(error: BaseException) -> Iterator[Any]:
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        if is_user_file(frame.f_code.co_filename):
            for thing in list(frame.f_locals.values()):
                is_of_pyg = any(kind.__module__.startswith("torch_geometric.data") for kind in type(thing).__mro__)
                kept = (getattr(thing, "_inc_dict", None), getattr(thing, "_slice_dict", None)) if is_of_pyg else ()
                if kept and all(isinstance(each, Mapping) for each in kept):
                    yield thing


def _taken_back(ids: torch.Tensor, offsets: Any, cuts: Any, bound: int) -> tuple[int, int, int] | None:
    """The least and the largest id without the offsets, and the offset of the last graph."""
    if not isinstance(offsets, torch.Tensor) or not isinstance(cuts, torch.Tensor) or offsets.ndim != 1:
        return None
    if ids.ndim != 1 or len(cuts) != len(offsets) + 1 or int(cuts[-1]) != len(ids) or not bool((offsets != 0).any()):
        return None
    own = ids - torch.repeat_interleave(offsets, cuts.diff())
    low, high = (int(end) for end in torch.aminmax(own))
    return (low, high, int(offsets[-1])) if low >= 0 and high < bound else None


def _given_at(attribute: str) -> Location | None:
    """The line of the user's files that gives a graph this attribute."""
    for file, node in user_nodes():
        if isinstance(node, ast.Call):
            told = [keyword.value.lineno for keyword in node.keywords if keyword.arg == attribute]
        elif isinstance(node, ast.Assign):
            told = [node.lineno for target in node.targets if _is_attribute(target, attribute)]
        else:
            continue
        if told:
            return location(file, told[0])
    return None


def _is_attribute(target: ast.expr, attribute: str) -> bool:
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Constant) and target.slice.value == attribute
    return isinstance(target, ast.Attribute) and target.attr == attribute and ast.unparse(target.value) != "self"
