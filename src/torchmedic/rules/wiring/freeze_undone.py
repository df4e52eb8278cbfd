"""A part is frozen, and a loop that goes over all parameters switches it on again before the first step."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FreezeUndone, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import counted


class FreezeIsUndone(Rule):
    """What one line froze, another one that goes over everything trains."""

    code = "WIR140"
    name = "freeze-undone"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "parameters that a line froze have `requires_grad=True` at the first step"
    needs = (FreezeUndone,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FreezeUndone):
            example = f": `{seen.parameters[0]}`" if seen.parameters else ""
            yield self.diagnose(
                headline=f"the freeze of {counted(seen.count, 'parameter')} is undone before the first step{example}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="sets `requires_grad` of the frozen ones as well",
                also=(Also(location=seen.frozen_at, why="they were frozen here"),),
                culprit=Culprit(op="requires_grad", parameter=next(iter(seen.parameters), None), phase="setup"),
                evidence=(
                    f"the line switched {seen.switched_on} parameters on, with all {seen.count} that were frozen",
                    "the optimizer holds them, and steps with their gradients",
                ),
                remedies=(
                    Remedy(title="take this line out: parameters need a gradient from the start"),
                    Remedy(title="or freeze behind it"),
                ),
            )
