"""A function that sets `requires_grad` only where it is set already: it freezes, and can never thaw."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NeverThawed, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed


class NeverThawedRule(Rule):
    """Parameters are frozen by a function whose call with True passes over everything that is frozen."""

    code = "WIR130"
    name = "never-thawed"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the call that is to switch gradients on again finds nothing to switch"
    needs = (NeverThawed,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(NeverThawed):
            yield self.diagnose(
                headline=f"`{seen.function}({seen.subject}, True)` passes over everything that is frozen",
                confidence="likely",
                step=seen.step,
                where=seen.where,
                label="false for what is frozen: it is never switched on again",
                also=also(
                    (seen.thawed, "meant to thaw, and changes nothing"), (seen.frozen, "freezes"), where=seen.where
                ),
                culprit=Culprit(op=seen.function, parameter=next(iter(seen.parameters), None), phase="setup"),
                evidence=(
                    f"the optimizer holds {counted(seen.count, 'parameter')} with `requires_grad=False`",
                    *([f"among them: {listed(seen.parameters)}"] if seen.parameters else ()),
                ),
                remedies=(Remedy(title="take the condition away: set `requires_grad` of every parameter"),),
            )
