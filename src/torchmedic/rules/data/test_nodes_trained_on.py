"""A loss over all nodes of a graph, those of the test mask among them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NodesTrainedOn, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class TestNodesTrainedOn(Rule):
    """The graph has a `train_mask`, and the loss does not use it."""

    code = "DAT070"
    name = "test-nodes-trained-on"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_EQUALS_TEST)
    tell_apart = "the loss takes the labels of every node, although the graph has masks"
    needs = (NodesTrainedOn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(NodesTrainedOn))
        if len({seen.step for seen in found}) < 2 or len({seen.where for seen in found}) != 1:
            return
        seen = found[0]
        given, target = seen.names
        mask = f"{seen.owner}.train_mask"
        yield self.diagnose(
            headline=f"the loss takes the labels of all {seen.nodes} nodes, {seen.test} of them in `test_mask`",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            label="no `train_mask` here",
            culprit=Culprit(op=seen.function, phase="data", tensor=target, rows=seen.test),
            evidence=(
                f"`{mask}` marks {seen.train} nodes for training; the model is trained on the {seen.test} that it is "
                f"tested on as well",
            ),
            remedies=(Remedy(title=f"use `{given}[{mask}]` and `{target}[{mask}]` in the loss"),),
        )
