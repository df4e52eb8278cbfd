"""All units of a layer have the same weights, and always will: they were filled with one number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import IdenticalUnits as Units
from torchmedic.facts import Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class IdenticalUnits(Rule):
    """Units that begin equal are given equal gradients."""

    code = "WIR087"
    name = "identical-units"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "every row of a weight is the same, long after the first step"
    needs = (Units,)
    folds = ("dead-activation", "answers-unrelated-to-targets", "learning-rate-too-high")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(Units))
        if not found:
            return
        seen = found[0]
        where = seen.drawn or seen.built
        name = f"`{seen.path}`" if seen.path else "the layer"
        yield self.diagnose(
            headline=f"all {seen.units} units of {name} ({seen.layer}) have the same weights at step {seen.step}",
            confidence="proven",
            step=seen.step,
            where=where,
            label="one number for all weights" if seen.drawn else "its units are copies of each other",
            also=(Also(location=seen.built, why="the layer is built here"),)
            if seen.built is not None and seen.built != where
            else (),
            culprit=Culprit(module=seen.path or seen.layer, parameter=f"{seen.path}.weight".strip(".")),
            evidence=(
                f"so it was at steps {', '.join(map(str, seen.steps))}, though the layer is trained and has a gradient",
                "equal units give equal answers and get equal gradients: together they are worth a single one",
            ),
            remedies=(Remedy(title="draw the weights at random (`nn.init.kaiming_uniform_`), or leave them as built"),),
        )
