"""`module.requires_grad = True`: an attribute of the module that no parameter hears of."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FlagOnModule, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class RequiresGradOnModule(Rule):
    """The flag belongs to parameters; a module has a method of that name with an underscore."""

    code = "WIR073"
    name = "requires-grad-on-module"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "`requires_grad` was assigned to a module, not to its parameters"
    needs = (FlagOnModule,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(FlagOnModule)
        if seen is None or seen.where is None:
            return
        left = "frozen" if seen.value else "trainable"
        yield self.diagnose(
            headline=f"`requires_grad = {seen.value}` on a `{seen.module}` does nothing: {left} it stays",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            label="an attribute of the module, not of its parameters",
            culprit=Culprit(op="requires_grad", phase="setup", module=seen.module),
            evidence=(
                f"after it {seen.differ} of its {seen.parameters} parameters have `requires_grad={not seen.value}`",
                "a module takes any attribute that it is given; only the parameters' own flag counts",
            ),
            remedies=(Remedy(title=f"call the method: `.requires_grad_({seen.value})`, with the underscore"),),
        )
