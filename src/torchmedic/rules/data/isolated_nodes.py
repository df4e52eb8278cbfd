"""Nodes that no edge touches: a graph network sees nothing but their own features, and divides by a degree of 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NodesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share


class IsolatedNodes(DataRule):
    """A hint: most graphs have some."""

    code = "DAT131"
    name = "isolated-nodes"
    severity = "hint"
    symptoms = (Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "nodes appear in no edge of any type"
    needs = (NodesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, NodesSeen):
            alone = [n for n in place.seen if n.isolated and n.nodes >= 10 and n.isolated >= 0.01 * n.nodes]
            if not alone:
                continue
            worst = max(alone, key=lambda n: n.isolated)
            verb = "is" if worst.isolated == 1 else "are"
            yield self.report(
                place,
                f"{worst.isolated:,} of {many(worst.nodes, 'node')} of `{worst.name}` {verb} touched by no edge",
                evidence=[f"{share(worst.isolated, worst.nodes)}; a hand-written `degree ** -0.5` is infinite there"],
                help=("add self loops (`AddSelfLoops()`), or take them out (`RemoveIsolatedNodes()`)",),
                field=worst.name,
                rows=worst.isolated,
            )
