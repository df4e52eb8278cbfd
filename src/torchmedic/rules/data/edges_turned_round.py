"""Edges of an undirected graph are split one direction at a time: most test edges were trained on, turned round."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EdgesTurnedRound, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class EdgesTurnedRoundRule(Rule):
    """Test edges are among the training edges with their ends swapped, and all edges come in both directions."""

    code = "DAT148"
    name = "edges-turned-round"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "the pair (b, a) is trained on for the pair (a, b) that is tested"
    needs = (EdgesTurnedRound,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(EdgesTurnedRound):
            yield self.diagnose(
                headline=f"{seen.turned} of {seen.edges} test edges are trained on as well, turned round",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="deals the two directions of one edge to both parts",
                culprit=Culprit(phase="data", tensor=seen.test, rows=seen.turned),
                evidence=(
                    f"for each of them in `{seen.test}`, `{seen.train}` holds the same two nodes in the other order",
                    "all parts together hold every edge in both directions: the graph is undirected",
                ),
                remedies=(
                    Remedy(title="tell the split: `RandomLinkSplit(is_undirected=True)`")
                    if seen.is_drawn_by_library
                    else Remedy(title="split pairs with `a < b`, and add the other direction within each part"),
                ),
            )
