"""The answer of `append`, `extend` or `sort` is used as if it were the list: it is None."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NothingUsed, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import short


class AnswerOfAppend(Rule):
    """A method that changes a list in place is used for its value."""

    code = "WIR161"
    name = "answer-of-append"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "an argument or a variable is None, because methods that change a list in place answer None"
    needs = (NothingUsed,)
    folds = ("frozen-last-layer",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(NothingUsed):
            use = f"`{seen.use}`" if seen.use else "the argument"
            yield self.diagnose(
                headline=f"{use} is None: `{seen.method}` changes the list and answers nothing",
                confidence="likely",
                where=seen.where,
                label="the value of this call is None",
                culprit=Culprit(op=seen.method, tensor=seen.use or None, phase="setup"),
                evidence=(f"`{short(seen.text)}` is used as a value, and is None whatever the list holds",),
                remedies=(
                    Remedy(title=f"call `{short(seen.text)}` on a line of its own, and hand over the list"),
                    Remedy(title="or make a new list: `[*names, new]`"),
                ),
            )
