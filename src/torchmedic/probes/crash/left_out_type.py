"""Finds the type of node that a heterogeneous layer was not given, because no edge of the layer before led to it."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from types import FrameType

from torchmedic.facts import NodeTypeLeftOut

_MOST = 8


def left_out_type(error: BaseException) -> NodeTypeLeftOut | None:
    """Read from the frame of PyG's `HeteroConv`, which gives its inner layers None for a type that is missing."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        is_hetero = frame.f_code.co_name == "forward" and "hetero_conv" in frame.f_code.co_filename
        found = _of_layer(frame) if is_hetero and "torch_geometric" in frame.f_code.co_filename else None
        if found is not None:
            return found
    return None


def _of_layer(frame: FrameType) -> NodeTypeLeftOut | None:
    edge_type, dicts = frame.f_locals.get("edge_type"), frame.f_locals.get("args_dict")
    given = dicts[0] if isinstance(dicts, tuple) and dicts and isinstance(dicts[0], Mapping) else None
    if given is None or not isinstance(edge_type, tuple) or len(edge_type) != 3:
        return None
    missing = next((kind for kind in (edge_type[0], edge_type[2]) if kind not in given), None)
    if missing is None:
        return None
    types = tuple(map(str, given))[:_MOST]
    return NodeTypeLeftOut(node_type=str(missing), edge_type=tuple(map(str, edge_type)), given=types)
