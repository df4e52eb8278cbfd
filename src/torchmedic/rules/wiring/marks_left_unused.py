"""A mask, or the ends of the episodes, is prepared for the loss and never takes part in it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MarksUnused, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import short


class MarksLeftUnused(Rule):
    """A function of the training computes which entries count, and does not use it."""

    code = "WIR160"
    name = "marks-left-unused"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "a name such as `dones` or `mask` is given a value in the function and is read nowhere"
    needs = (MarksUnused,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(MarksUnused):
            name = f"`{seen.name}`"
            yield self.diagnose(
                headline=f"{name} is prepared in `{seen.function}` and never used",
                confidence="likely",
                where=seen.target or seen.where,
                label="the value of the next state counts behind the end of an episode too"
                if seen.target
                else "nothing reads it",
                also=(Also(location=seen.where, why="prepared here"),) if seen.target else (),
                culprit=Culprit(tensor=seen.name, phase="forward"),
                evidence=(f"`{seen.function}` computes {name} as `{short(seen.text)}`, and reads it nowhere",),
                remedies=tuple(_remedies(seen)),
            )


def _remedies(seen: MarksUnused) -> Iterator[Remedy]:
    if seen.target is not None:
        yield Remedy(title=f"multiply the value of the next state by `(1 - {seen.name})`")
    else:
        yield Remedy(title=f"apply `{seen.name}` where the masked entries must not count, or take the line out")
