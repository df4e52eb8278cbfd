"""A score that compares every answer with every label."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AccidentalBroadcast, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.loss._calls import shown


class ScoreOfAllPairs(Rule):
    """`==` of (N, 1) and (N,) makes a table, and the right answers in it are counted."""

    code = "LOS063"
    name = "score-of-all-pairs"
    severity = "warning"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.SCORE_LOW)
    tell_apart = "the accuracy is far above 100 %, or does not fit the loss"
    needs = (AccidentalBroadcast,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for meeting in run.all(AccidentalBroadcast):
            if meeting.op != "eq":
                continue
            (first, second), (one, two) = meeting.names, meeting.shapes
            long_name = first if len(one) > len(two) else second
            yield self.diagnose(
                headline=f"`{first}` {shown(one)} == `{second}` {shown(two)} makes a table {shown(meeting.result)}",
                confidence="proven",
                step=meeting.step,
                where=meeting.where,
                mark=meeting.expression,
                label="compares every answer with every label",
                culprit=Culprit(op="eq", tensor=first),
                evidence=(
                    "the shapes differ by dimensions of size 1 only, and the whole table is counted: a score of it is "
                    "no score of the model",
                ),
                remedies=(Remedy(title=f"make the shapes equal: `{receiver(long_name)}.squeeze(-1)`"),),
            )
            return
