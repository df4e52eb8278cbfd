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
                ends = (
                    f"{seen.tail_nodes:,}" if seen.tail == seen.head else f"{seen.tail_nodes:,} and {seen.head_nodes:,}"
                )
                verb = "names" if seen.outside == 1 else "name"
                yield self.report(
                    place,
                    (
                        f"{seen.outside:,} of {seen.edges:,} edges of `{seen.name}` {verb} nodes that are not there",
                        f"{seen.outside:,} of {many(seen.edges, 'edge')} {verb} nodes that are not there",
                    ),
                    evidence=[f"`edge_index` goes from {seen.lowest} to {seen.highest}, and there are {ends} nodes"],
                    help=(
                        "number the nodes from 0 in the order of the rows of `x`: `pd.factorize`, or a dict by id",
                        "set `num_nodes` where nodes without features are meant",
                    ),
                    field=f"{seen.name}.edge_index",
                    rows=seen.outside,
                )
