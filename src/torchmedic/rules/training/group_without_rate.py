"""One group of the optimizer has a learning rate of 0: its parameters get gradients and never move."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GroupWithoutRate, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class GroupWithoutRateRule(Rule):
    """At every look the rate of one group was nothing beside that of another, and nobody asked for 0."""

    code = "TRN054"
    name = "group-without-rate"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the parameters of one group have gradients, and the rate of that group is 0"
    needs = (GroupWithoutRate,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GroupWithoutRate):
            example = f", `{seen.parameters[0]}` among them" if seen.parameters else ""
            yield self.diagnose(
                headline=f"group {seen.group} of `{seen.optimizer}` has lr {seen.rate:g}: its weights never move",
                confidence="proven",
                where=seen.where,
                label=f"gives lr {seen.rate:g}",
                culprit=Culprit(
                    op=seen.optimizer, parameter=next(iter(seen.parameters), None), phase="optimizer", tensor="lr"
                ),
                evidence=(
                    f"{seen.count} parameters{example}: gradients reach them, and no step moves them",
                    f"another of the {seen.groups} groups has lr {seen.others:.3g}",
                ),
                remedies=(
                    Remedy(title="check how the rate is made: `//` rounds a rate below 1 down to 0"),
                    Remedy(title="to freeze on purpose, set `requires_grad=False`, which saves the gradients as well"),
                ),
            )
