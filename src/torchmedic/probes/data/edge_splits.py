"""Edges of an undirected graph that were split one direction at a time: what is tested was trained on, turned round."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch

from torchmedic.facts import EdgesTurnedRound
from torchmedic.probes.data.splits import split_line
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.objects.name_paths import user_modules
from torchmedic.probes.objects.rows import is_held_out, is_trained_on
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.sources import called_at

_LEAST_EDGES = 50
_MOST_EDGES = 2_000_000
_ALL = 0.99
_FEW = 0.02
_MANY = 0.25
_LIBRARY_SPLIT = "RandomLinkSplit"

Edges = np.ndarray[Any, np.dtype[np.int64]]


def edges_turned_round(frame: FrameType | None, step: int) -> EdgesTurnedRound | None:
    """Looks at what the script calls training and test edges, as variables or in graphs."""
    parts: dict[str, Edges] = {}
    for name, edges in named_edges(frame):
        parts.setdefault(name, edges)
    trained = {name: edges for name, edges in parts.items() if is_trained_on((name,))}
    tested = {name: edges for name, edges in parts.items() if is_held_out((name,))}
    for train_name, train in trained.items():
        turned = {
            name: share_found(test[::-1], train) for name, test in tested.items() if share_found(test, train) <= _FEW
        }
        shared = {name: share for name, share in turned.items() if share >= _MANY}
        # All parts together hold both directions of every edge: the graph has no direction.
        whole = np.concatenate([train, *(tested[name] for name in shared)], axis=1)
        if shared and share_found(whole[::-1], whole) >= _ALL:
            name = max(shared, key=lambda one: "test" in one)
            drawn = called_at(_LIBRARY_SPLIT)
            return EdgesTurnedRound(
                step=step,
                train=train_name,
                test=name,
                edges=tested[name].shape[1],
                turned=round(shared[name] * tested[name].shape[1]),
                where=drawn or split_line(),
                is_drawn_by_library=drawn is not None,
            )
    return None


def share_found(wanted: Edges, among: Edges) -> float:
    """The share of edges that others hold, in the same direction; loops are left out."""
    wanted = wanted[:, wanted[0] != wanted[1]]
    width = int(max(wanted.max(initial=0), among.max(initial=0))) + 1
    found = np.isin(wanted[0] * width + wanted[1], among[0] * width + among[1])
    return float(found.mean()) if found.size else 0.0


def named_edges(frame: FrameType | None) -> Iterator[tuple[str, Edges]]:
    scopes = [locals_of(each) for each in outward(frame) if is_user_file(each.f_code.co_filename)]
    for names in (*scopes, *(vars(module) for module in user_modules())):
        for name, thing in list(names.items()):
            if not is_trained_on((name,)) and not is_held_out((name,)):
                continue
            edges = edges_of(thing)
            if edges is not None:
                yield name, edges
            elif _is_graph(thing):
                yield from _of_graph(name, thing)


def _is_graph(thing: Any) -> bool:
    """A graph of PyG: asking anything else for its attributes might run code of the user's."""
    is_known = type(thing).__module__.startswith("torch_geometric.data")
    return is_known and isinstance(getattr(thing, "edge_index", None), torch.Tensor)


def _of_graph(name: str, graph: Any) -> Iterator[tuple[str, Edges]]:
    """What a part of a graph is trained or tested on: its labelled edges, and for training those that it sees."""
    asked, label = getattr(graph, "edge_label_index", None), getattr(graph, "edge_label", None)
    if isinstance(asked, torch.Tensor) and isinstance(label, torch.Tensor) and label.ndim == 1:
        positive = edges_of(asked[:, label > 0]) if asked.shape[-1] == len(label) else None
        if positive is not None:
            yield f"{name}.edge_label_index", positive
    seen = edges_of(graph.edge_index) if is_trained_on((name,)) else None
    if seen is not None:
        yield f"{name}.edge_index", seen


def edges_of(thing: Any) -> Edges | None:
    """Two rows (or columns) of whole numbers."""
    if type(thing) not in (torch.Tensor, np.ndarray) or thing.ndim != 2 or 2 not in thing.shape:
        return None
    if str(thing.dtype).removeprefix("torch.") not in ("int32", "int64") or max(thing.shape) < _LEAST_EDGES:
        return None
    if max(thing.shape) > _MOST_EDGES:
        return None
    array = thing.detach().cpu().numpy() if isinstance(thing, torch.Tensor) else thing
    lying = array if array.shape[0] == 2 else array.T
    return lying.astype(np.int64) if lying.min(initial=0) >= 0 else None
