"""Graphs of PyTorch Geometric, told by their shape rather than by their class."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from torchmedic.checkups.data.arrays import array_facts, as_numpy
from torchmedic.checkups.data.options import Listing, unlisted
from torchmedic.facts import Cell, EdgesSeen, NodesSeen, Observation, SharedBetween

_MASKS = ("train_mask", "val_mask", "test_mask")
_WEIGHTS = ("edge_weight",)
_FIELDS = ("x", "edge_attr", "edge_weight", "y", "pos")


def is_graph(thing: Any) -> bool:
    """Whether this is a Data or HeteroData (its storages tell)."""
    return (
        hasattr(thing, "stores") and hasattr(thing, "to_dict") and (hasattr(thing, "edge_index") or _is_hetero(thing))
    )


def _is_hetero(thing: Any) -> bool:
    return hasattr(thing, "edge_types") and hasattr(thing, "node_types")


def graph_facts(source: str, name: str, graph: Any, listing: Listing = unlisted) -> Iterator[Observation]:
    """Edges and nodes of every type, and the tensors that hang on them."""
    if _is_hetero(graph):
        stores = {kind: graph[kind] for kind in graph.node_types}
        edges = {kind: graph[kind] for kind in graph.edge_types}
    else:
        stores, edges = {"": graph}, {("", "", ""): graph}
    with warnings.catch_warnings():
        # Told below: PyG warns when it must guess how many nodes there are.
        warnings.simplefilter("ignore")
        counts = {kind: int(store.num_nodes or 0) for kind, store in stores.items()}
    yield from _edge_facts(source, name, edges, counts, listing)
    yield from _node_facts(source, name, stores, edges, counts)
    for kind, store in stores.items():
        yield from _mask_facts(source, _joined(name, kind), store)
    for kind, store in {**stores, **(edges if _is_hetero(graph) else {})}.items():
        yield from _field_facts(source, _joined(name, kind), store, listing)


def _joined(name: str, kind: Any) -> str:
    shown = "__".join(kind) if isinstance(kind, tuple) else kind
    return f"{name}.{shown}" if name and shown else name or shown or "graph"


def _index_of(store: Any) -> np.ndarray | None:
    index = getattr(store, "edge_index", None)
    if index is None or getattr(index, "ndim", 0) != 2 or index.shape[0] != 2:
        return None
    return as_numpy(index)


def _edge_facts(
    source: str, name: str, edges: dict[Any, Any], counts: dict[str, int], listing: Listing
) -> Iterator[EdgesSeen]:
    for (tail, relation, head), store in edges.items():
        index = _index_of(store)
        if index is None:
            continue
        sizes = np.array([[counts.get(tail, 0)], [counts.get(head, 0)]])
        outside = ((index < 0) | (index >= sizes)).any(axis=0)
        whole = index.dtype.kind in "iu"
        pairs = index[0].astype(np.int64) * (int(index[1].max(initial=0)) + 1) + index[1] if whole else index[0]
        weight = next((field for field in _WEIGHTS if getattr(store, field, None) is not None), "")
        values = as_numpy(getattr(store, weight)) if weight else np.zeros(0)
        called = _joined(name, (tail, relation, head) if relation else "")
        carried = _carried(store, index.shape[1])
        yield EdgesSeen(
            source=source,
            name=called,
            tail=tail,
            head=head,
            tail_nodes=counts.get(tail, 0),
            head_nodes=counts.get(head, 0),
            edges=index.shape[1],
            dtype=str(store.edge_index.dtype).removeprefix("torch."),
            outside=int(outside.sum()),
            highest=int(index.max()) if index.size and whole else None,
            lowest=int(index.min()) if index.size and whole else None,
            ranges=tuple((int(row.min()), int(row.max())) for row in index) if index.size and whole else (),
            cells=_outside(source, called, index, np.flatnonzero(outside), listing),
            repeats=_repeats(pairs, carried) if whole else 0,
            carried=tuple(carried),
            loops=int((index[0] == index[1]).sum()) if tail == head else 0,
            negative=int((values < 0).sum()) if values.dtype.kind in "fi" else 0,
            weight=weight,
        )


def _carried(store: Any, edges: int) -> dict[str, np.ndarray]:
    """What hangs on every edge: a time, a type, measured values. Two of one pair that differ in it are two events."""
    named = store.edge_attrs() if hasattr(store, "edge_attrs") else []
    fields = {name: getattr(store, name, None) for name in named if name != "edge_index"}
    arrays = {name: as_numpy(value) for name, value in fields.items() if hasattr(value, "detach")}
    return {name: array for name, array in arrays.items() if array.dtype.kind in "fiub" and array.shape[:1] == (edges,)}


def _repeats(pairs: np.ndarray, carried: dict[str, np.ndarray]) -> int:
    """How many edges are there a second time, with all that they carry: a sum over their bits tells edges apart."""
    if carried and len(pairs):
        columns = [column for array in carried.values() for column in array.reshape(len(pairs), -1).T]
        odd = np.random.default_rng(0).integers(1 << 62, size=len(columns) + 1, dtype=np.uint64) * 2 + 1
        total = pairs.astype(np.uint64) * odd[0]
        for factor, column in zip(odd[1:], columns, strict=True):
            wide = np.ascontiguousarray(column, dtype=np.float64 if column.dtype.kind == "f" else np.int64)
            total += wide.view(np.uint64) * factor
        pairs = total
    return int(len(pairs) - len(np.unique(pairs)))


def _outside(source: str, name: str, index: np.ndarray, edges: np.ndarray, listing: Listing) -> tuple[Cell, ...]:
    """Some of the edges whose nodes are not there; all of them go to the list."""
    if listing is not unlisted:
        for edge in edges:
            listing(source, int(edge), f"{name}.edge_index", "no-such-node", str(index[:, edge].tolist()))
    return tuple(Cell(text=f"{name}.edge_index[:, {edge}] = {index[:, edge].tolist()}") for edge in edges[:4])


def _node_facts(
    source: str, name: str, stores: dict[str, Any], edges: dict[Any, Any], counts: dict[str, int]
) -> Iterator[NodesSeen]:
    featured = {kind for kind, store in stores.items() if getattr(store, "x", None) is not None}
    for kind in stores:
        touched = np.zeros(counts[kind], dtype=bool)
        incoming: list[str] = []
        outgoing: list[str] = []
        for (tail, relation, head), store in edges.items():
            index = _index_of(store)
            if index is None or index.dtype.kind not in "iu":
                continue
            for side, end, listed in ((0, tail, outgoing), (1, head, incoming)):
                if end == kind:
                    listed += ["__".join((tail, relation, head))] if index.size else []
                    ends = index[side]
                    touched[ends[(ends >= 0) & (ends < counts[kind])]] = True
        yield NodesSeen(
            source=source,
            name=_joined(name, kind),
            nodes=counts[kind],
            features=kind in featured,
            others_have_features=bool(featured - {kind}),
            isolated=int((~touched).sum()),
            incoming=tuple(incoming),
            outgoing=tuple(outgoing),
            types=len(stores),
        )


def _mask_facts(source: str, name: str, store: Any) -> Iterator[SharedBetween]:
    """Nodes that are marked for training and for an evaluation as well."""
    masks = {mask: getattr(store, mask, None) for mask in _MASKS}
    marked = {
        mask: as_numpy(value) for mask, value in masks.items() if str(getattr(value, "dtype", "")) == "torch.bool"
    }
    train = marked.pop(_MASKS[0], None)
    for mask, held_out in marked.items():
        if train is None or train.shape != held_out.shape:
            continue
        both = train & held_out
        if both.any():
            nodes = np.unique(np.argwhere(both)[:, 0])
            yield SharedBetween(
                source=source,
                train=f"{name}.{_MASKS[0]}",
                test=f"{name}.{mask}",
                how="nodes",
                columns=(),
                shared=int(both.sum()),
                of=int(held_out.sum()),
                cells=tuple(Cell(text=f"node {node}") for node in nodes[:4]),
            )


def _field_facts(source: str, name: str, store: Any, listing: Listing) -> Iterator[Observation]:
    for field in _FIELDS:
        value = getattr(store, field, None)
        if value is not None and hasattr(value, "detach"):
            yield from array_facts(source, f"{name}.{field}", as_numpy(value), listing=listing)
