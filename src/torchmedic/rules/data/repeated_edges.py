"""The same edge several times, or edges from a node to itself."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EdgesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places, share


class RepeatedEdges(DataRule):
    """A hint: multigraphs and self loops are legitimate where they are meant."""

    code = "DAT132"
    name = "repeated-edges"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW, Symptom.MEMORY_GROWS)
    tell_apart = "pairs of nodes occur more than once in `edge_index`, or a node is joined to itself"
    needs = (EdgesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, EdgesSeen):
            for seen in place.seen:
                double = seen.repeats if seen.repeats >= max(5, 0.01 * seen.edges) else 0
                # Either every node has a loop, which is a choice, or some have, which is not.
                loops = seen.loops if 0 < seen.loops < 0.5 * seen.tail_nodes else 0
                if not double and not loops:
                    continue
                what = "repeat another edge" if double else "lead from a node to itself"
                count = double or loops
                yield self.report(
                    place,
                    f"{count:,} of {many(seen.edges, 'edge')} of `{seen.name}` {what}",
                    evidence=[
                        f"{share(count, seen.edges)}; sums and degrees count each of them",
                        *([f"they are equal in {listed(seen.carried)} too"] if double and seen.carried else []),
                        *([f"and {many(loops, 'edge')} lead from a node to itself"] if double and loops else []),
                    ],
                    help=(_once(seen.carried),)
                    if double
                    else ("`torch_geometric.utils.remove_self_loops(edge_index)`",),
                    field=f"{seen.name}.edge_index",
                    rows=count,
                )


def _once(carried: tuple[str, ...]) -> str:
    if not carried:
        return "`torch_geometric.utils.coalesce(edge_index)`"
    told = carried[0] if len(carried) == 1 else f"[{', '.join(carried)}]"
    return f"`torch_geometric.utils.coalesce(edge_index, {told}, reduce='mean')`"
