"""Reads off shapes what memory grows with: nodes, edges, batch and sequence are told by the tensors that come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from torchmedic.facts.memory_plan import Dimension, GrowthTerm

_LEAST_NODES = 16
_LEAST_TELLING = 5
_MANY = 64  # a size from which a multiple of it is no chance
_MOST_TERMS = 12


@dataclass(frozen=True)
class Input:
    """A tensor that was copied to the card: its shape, whether it holds whole numbers, the largest of them, how many a
    mask selects, and, of pairs, how many are of a number with itself."""

    shape: tuple[int, ...]
    whole: bool
    largest: int = -1
    selects: int = -1
    loops: int = 0
    in_step: bool = False


def dimensions_of(
    inputs: Sequence[Input], others: Iterable[int], held: Iterable[int] | None = None
) -> tuple[Dimension, ...]:
    """The sizes of the data that can be told from their shapes; `others`, sizes of the model, could not be told apart.

    `held` are the lengths of what is held at the peak: where those of several graphs are, no size of one tells a law.

    >>> graph = [Input((900, 32), False), Input((2, 5000), True, 899), Input((900,), True, 1, 40)]
    >>> [(d.name, d.size) for d in dimensions_of(graph, [64])]
    [('nodes', 900), ('edges', 5000), ('selected nodes', 40)]
    """
    if held is not None and _are_several_graphs(inputs, frozenset(held)):
        return ()
    taken = set(others)
    found = _graph(inputs) or _batch(inputs)
    return tuple(d for d in found if d.name in ("nodes", "edges") or (d.size not in taken and d.size >= _LEAST_TELLING))


def _are_several_graphs(inputs: Sequence[Input], held: frozenset[int]) -> bool:
    """Whether kinds of nodes, or snapshots, are held that differ both in their nodes and in their edges."""
    edges = {i.shape[1] for i in inputs if i.whole and len(i.shape) == 2 and i.shape[0] == 2 and i.largest >= 0}
    nodes = {i.shape[0] for i in inputs if not i.whole and len(i.shape) == 2 and i.shape[0] >= _LEAST_NODES} - edges
    return len(edges & held) > 1 and len(nodes & held) > 1


def _graph(inputs: Sequence[Input]) -> list[Dimension]:
    firsts = Counter(i.shape[0] for i in inputs if i.shape)
    for one in inputs:
        if one.whole and len(one.shape) == 2 and one.shape[0] == 2 and one.largest >= _LEAST_NODES:
            nodes = [size for size, _ in firsts.most_common() if one.largest < size != one.shape[0]]
            if nodes:
                return [Dimension("nodes", nodes[0]), Dimension("edges", one.shape[1]), *_selected(inputs, nodes[0])]
    for one in inputs:
        size = one.shape[0] if one.shape else 0
        if one.shape == (size, size) and size >= _LEAST_NODES and firsts[size] > 1:
            return [Dimension("nodes", size), *_selected(inputs, size)]
    return []


def _selected(inputs: Sequence[Input], nodes: int) -> list[Dimension]:
    masks = [i.selects for i in inputs if i.shape == (nodes,) and 0 < i.selects < nodes]
    return [Dimension("selected nodes", masks[0])] if masks else []


def _batch(inputs: Sequence[Input]) -> list[Dimension]:
    coming = [i for i in inputs if i.in_step and i.shape]
    if not coming:
        return []
    batch = Counter(i.shape[0] for i in coming).most_common(1)[0][0]
    found = [Dimension("batch", batch)]
    rows = [i.shape[1] for i in coming if i.shape[0] == batch and len(i.shape) == (2 if i.whole else 3)]
    if rows:
        found.append(Dimension("sequence", max(rows)))
    return found


def edge_counts(inputs: Sequence[Input], dimensions: Sequence[Dimension]) -> frozenset[int]:
    """How many edges layers make of those they get: one more of every node to itself, or the opposite of each.

    Edges of a node to itself that were there before are taken out first.
    """
    sizes = {d.name: d.size for d in dimensions}
    edges, nodes = sizes.get("edges", 0), sizes.get("nodes", 0)
    if not edges:
        return frozenset()
    loops = {0, *(one.loops for one in inputs if one.shape == (2, edges))}
    single = {edges - count for count in loops} | {2 * (edges - count) for count in loops}
    return frozenset(single | {count + nodes for count in single})


def terms_of(
    held: Iterable[tuple[tuple[int, ...], int]], dimensions: Sequence[Dimension], edges: frozenset[int] = frozenset()
) -> tuple[GrowthTerm, ...]:
    """Bytes by the dimensions that their shapes contain (`edges`: lengths that follow them); others are constant."""
    sums: Counter[tuple[str, ...]] = Counter()
    for shape, size in held:
        names = [name for length in shape for name in _names(length, dimensions, edges)]
        sums[tuple(sorted(names))] += size
    return tuple(GrowthTerm(names, count) for names, count in sums.most_common(_MOST_TERMS))


def _names(length: int, dimensions: Sequence[Dimension], edges: frozenset[int]) -> tuple[str, ...]:
    """The dimensions that one length of a shape stands for."""
    sizes = {d.name: d.size for d in dimensions}
    for name, size in sizes.items():
        if length == size:
            return (name,)
    if length in edges:
        return ("edges",)
    for one, other in combinations(sizes, 2):
        if length == sizes[one] * sizes[other]:
            return (one, other)
    for name, size in (*sizes.items(), *(("edges", count) for count in edges)):
        if size >= _MANY and length % size == 0 and length:
            # Workspaces are one row of bytes: that of a square matrix holds the length twice.
            return (name, name) if length % size**2 == 0 else (name,)
    return ()
