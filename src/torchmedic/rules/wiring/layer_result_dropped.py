"""A layer is called in `forward`, and what it returns is thrown away."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import DroppedResult, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed


class LayerResultDropped(Rule):
    """The call is a statement of its own, and the layer's parameters never had a gradient."""

    code = "WIR065"
    name = "layer-result-dropped"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the layer runs in `forward`, but its result is assigned to nothing and never reaches the loss"
    needs = (DroppedResult,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(DroppedResult):
            yield self.diagnose(
                headline=f"the result of `{seen.text}` is thrown away: `self.{seen.attribute}` never trains",
                confidence="proven",
                where=seen.where,
                mark=seen.text,
                label="assigned to nothing",
                also=also((seen.optimizer_built, "holds its parameters all the same"), where=seen.where),
                culprit=Culprit(module=seen.attribute, parameter=seen.parameters[0], phase="forward"),
                evidence=(f"{listed(seen.parameters, 4)} are in the optimizer and never had a gradient",),
                remedies=(Remedy(title=f"use the result, as in `x = {seen.text}`, or leave the layer out"),),
            )
