"""An averaged copy of the model that still is what it was before the training."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AverageSeen, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import ended_well

_LEAST_STEPS = 100


class AverageNeverUpdated(Rule):
    """What the script calls an average has not moved in the whole run, though the model has."""

    code = "WIR054"
    name = "average-never-updated"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "the averaged copy has its first values at the end of the run"
    needs = (AverageSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(AverageSeen):
            is_average = seen.by_torch or seen.named_so
            if not seen.still or seen.shared or not is_average or seen.trained < _LEAST_STEPS or not ended_well(run):
                continue
            yield self.diagnose(
                headline=f"`{seen.name}` was never updated in {seen.trained} steps; `{seen.model}` was",
                confidence="proven" if seen.by_torch else "likely",
                where=seen.built,
                label="has the weights it was made with",
                culprit=Culprit(phase="optimizer", tensor=seen.name, parameter=seen.parameter),
                evidence=(
                    f"`{seen.parameter}` of `{seen.name}` is bit for bit what it was at the beginning; the one of "
                    f"`{seen.model}` has moved",
                ),
                remedies=(
                    Remedy(
                        title="update the average after every `optimizer.step()`"
                        + (f": `{seen.name}.update_parameters(model)`" if seen.by_torch else "")
                    ),
                ),
            )
