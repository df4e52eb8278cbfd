"""A node type that no edge leads to: message passing never updates it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NodesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places


class NodeTypeWithoutIncoming(DataRule):
    """`to_hetero` returns None for it, or drops it, in the second layer.

    A hint: the model, or a transform, may add the reverse edges, and nothing of that is seen in the data.
    """

    code = "DAT130"
    name = "node-type-without-incoming"
    severity = "hint"
    symptoms = (Symptom.CRASH, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "a node type of a heterogeneous graph is the head of no edge type"
    needs = (NodesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, NodesSeen):
            alone = [n for n in place.seen if n.types > 1 and n.nodes and n.outgoing and not n.incoming]
            if not alone:
                continue
            first = alone[0]
            others = list(dict.fromkeys(n.name for n in alone if n.name != first.name))
            sources = list(dict.fromkeys(n.source for n in alone if n.source != first.source))
            yield self.report(
                place,
                f"no edge leads to the {many(first.nodes, 'node')} of type `{first.name}`",
                evidence=[
                    f"edges go out of it ({listed(first.outgoing, 3)}), none comes in: its nodes learn nothing, "
                    "unless the model or a transform adds the reverse edges",
                    *([f"the same holds for {listed(others)}"] if others else []),
                    *([f"likewise in other files: {listed(sources)}"] if sources else []),
                ],
                help=(
                    "add the reverse edges, where nothing does: `torch_geometric.transforms.ToUndirected()`",
                    "or leave it, if only the other types are to be predicted in one layer",
                ),
                field=first.name,
                rows=first.nodes,
            )
