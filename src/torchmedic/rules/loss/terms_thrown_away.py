"""A term is assigned to the loss where it was to be added: all terms before it are lost."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ThrownTerms
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class TermsThrownAway(Rule):
    """What `loss += …` had collected is in no backward pass: the name was given to another term."""

    code = "LOS075"
    name = "terms-thrown-away"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "only the last term of the loss falls"
    needs = (ThrownTerms,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ThrownTerms):
            yield self.diagnose(
                headline=f"`{seen.name} =` throws away what `{seen.name} +=` had collected",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="only this term is left",
                also=(Also(location=seen.added, why="added to it here, and lost"),),
                culprit=Culprit(op="=", tensor=seen.name, phase="forward"),
                evidence=(
                    f"`{seen.text}` ran after the sum and before the backward pass, which does not hold the sum",
                ),
                remedies=(Remedy(title=f"add it: `{seen.text.replace(' = ', ' += ', 1)}`"),),
            )
