"""A node type without features among types that have them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NodesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places


class MissingNodeFeatures(DataRule):
    """`data.x_dict` leaves it out, and the first layer fails on a missing key."""

    code = "DAT134"
    name = "missing-node-features"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a node type has no `x` while others have"
    needs = (NodesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, NodesSeen):
            bare = [n for n in place.seen if not n.features and n.others_have_features and n.types > 1]
            if bare:
                first = bare[0]
                yield self.report(
                    place,
                    f"the {many(first.nodes, 'node')} of type `{first.name}` have no `x`, other types have",
                    evidence=[f"without features: {listed([n.name for n in bare])}; `x_dict` has no such key"],
                    help=(
                        f"learn an embedding for it: `nn.Embedding({first.nodes}, size)`",
                        "or give it constant features: `torch_geometric.transforms.Constant()`",
                    ),
                    field=first.name,
                    rows=first.nodes,
                )
