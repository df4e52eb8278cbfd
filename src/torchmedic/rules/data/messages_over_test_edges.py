"""Links are to be predicted that the network already sees: its messages run along them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MessagesOverTest, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class MessagesOverTestEdges(Rule):
    """The edges of message passing hold every edge of the test."""

    code = "DAT166"
    name = "messages-over-test-edges"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "the `edge_index` of the graph layers in training holds the edges that are tested on"
    needs = (MessagesOverTest,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(MessagesOverTest):
            name = f"`{seen.name}`" if seen.name else "the graph layers' `edge_index`"
            yield self.diagnose(
                headline=f"messages run along all {seen.tested} edges of `{seen.test}`, which are to be predicted",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="holds the edges of the test as well",
                culprit=Culprit(phase="data", tensor=seen.name or seen.test, rows=seen.tested),
                evidence=(
                    f"{name} has {seen.edges} edges, every one of `{seen.test}` among them, in training too",
                    f"the loss is trained on none of `{seen.test}`: they were meant to be unseen",
                ),
                remedies=(
                    Remedy(title="pass messages along the training edges only, in training and in the test"),
                    Remedy(title="or let `RandomLinkSplit` make the parts, each with an `edge_index` of its own"),
                ),
            )
