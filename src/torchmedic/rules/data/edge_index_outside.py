"""Edges that name nodes which are not there."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EdgesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class EdgeIndexOutside(DataRule):
    """On a CPU an IndexError, on a GPU an assert that kills the process."""

    code = "DAT128"
    name = "edge-index-outside"
    severity = "error"
    symptoms = (Symptom.CRASH, Symptom.DEATH)
    tell_apart = "`edge_index` holds a number that is negative or not below the number of nodes"
    needs = (EdgesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, EdgesSeen):
            for seen in place.seen:
                if not seen.outside:
                    continue
                verb = "names" if seen.outside == 1 else "name"
                yield self.report(
                    place,
                    (
                        f"{seen.outside:,} of {seen.edges:,} edges of `{seen.name}` {verb} nodes that are not there",
                        f"{seen.outside:,} of {many(seen.edges, 'edge')} {verb} nodes that are not there",
                    ),
                    cells=seen.cells,
                    evidence=_ranges(seen),
                    help=(
                        "number the nodes from 0 in the order of the rows of `x`: `pd.factorize`, or a dict by id",
                        "set `num_nodes` where nodes without features are meant",
                    ),
                    field=f"{seen.name}.edge_index",
                    rows=seen.outside,
                )


def _ranges(seen: EdgesSeen) -> list[str]:
    """What numbers there are, and how many nodes; each row by itself where it speaks of nodes of its own type."""
    if seen.tail == seen.head or len(seen.ranges) != 2:
        return [f"`edge_index` goes from {seen.lowest} to {seen.highest}, and there are {seen.tail_nodes:,} nodes"]
    ends = zip(seen.ranges, (seen.tail, seen.head), (seen.tail_nodes, seen.head_nodes), strict=True)
    return [
        f"row {row} of `edge_index` goes from {low} to {high}, and there are {many(nodes, 'node')} of type `{kind}`"
        for row, ((low, high), kind, nodes) in enumerate(ends)
    ]
