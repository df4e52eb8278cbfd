"""A policy loss whose advantage keeps its gradient: the value estimate is trained to please the policy."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WeightWithGradient
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver

_LEAST_STEPS = 3


class AdvantageWithGradient(Rule):
    """Log-probabilities are multiplied by the distance of returns from a value that the loss changes as well."""

    code = "LOS066"
    name = "advantage-with-gradient"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the critic has a gradient even where its own loss is left out"
    needs = (WeightWithGradient,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(WeightWithGradient))
        if len({seen.step for seen in found}) < _LEAST_STEPS or len({seen.where for seen in found}) != 1:
            return
        seen = found[0]
        where = seen.made or seen.where
        yield self.diagnose(
            headline=f"`{seen.weight}` is not detached: the policy loss trains the value estimate too",
            confidence="likely",
            step=seen.step,
            where=where,
            mark=seen.made_text,
            label="keeps the gradient of the value",
            also=(Also(location=seen.where, why=f"`{seen.score}` is multiplied by it here"),)
            if seen.where is not None and seen.where != where
            else (),
            culprit=Culprit(op="mul", phase="forward", tensor=seen.weight),
            evidence=(
                f"in `{seen.expression}` both factors have a gradient; `{seen.weight}` is to say how good an action "
                f"was, and is a plain number there",
                "log-probabilities, which are negative, push the value up, whatever the returns are",
            ),
            remedies=(Remedy(title=f"multiply by `{receiver(seen.weight)}.detach()`"),),
        )
