"""What a data check-up saw of graphs: their edges and their nodes."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.datacheck import Cell
from torchmedic.facts.fact import fact


@fact
class EdgesSeen(Observation):
    """The edges of one type in a graph. `ranges` are the lowest and highest number in both rows of `edge_index`.

    `repeats` equal another edge in both nodes and in all that is `carried`: the tensors that have a row per edge.
    """

    kind: ClassVar[str] = "edges-seen"
    source: str
    name: str
    tail: str
    head: str
    tail_nodes: int
    head_nodes: int
    edges: int
    dtype: str
    outside: int = 0
    highest: int | None = None
    lowest: int | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    cells: tuple[Cell, ...] = ()
    repeats: int = 0
    carried: tuple[str, ...] = ()
    loops: int = 0
    negative: int = 0
    weight: str = ""
    asked: Location | None = None
    step: int | None = None


@fact
class NodesSeen(Observation):
    """The nodes of one type in a graph: how many no edge touches, which edge types come in."""

    kind: ClassVar[str] = "nodes-seen"
    source: str
    name: str
    nodes: int
    features: bool
    others_have_features: bool
    isolated: int = 0
    incoming: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()
    types: int = 1
    asked: Location | None = None
    step: int | None = None
