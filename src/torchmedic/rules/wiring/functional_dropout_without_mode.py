"""`F.dropout(x)` without `training=`: it drops in evaluation too."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FunctionalDropout, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class FunctionalDropoutWithoutMode(Rule):
    """A model that was put into evaluation mode calls a functional dropout that does not know of it."""

    code = "WIR022"
    name = "functional-dropout-without-mode"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "`F.dropout` is called without `training`, whose default is True"
    needs = (FunctionalDropout,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        calls = list(run.all(FunctionalDropout))
        first = calls[0]
        is_module = not first.function.startswith("F.")
        others = [(call.where, "and here") for call in calls[1:3]]
        yield self.diagnose(
            headline=f"`{first.function}` in `{first.owner}` also drops in evaluation: it does not know the mode",
            confidence="likely",
            where=first.where,
            mark=first.function,
            label="a new module is in training mode, always"
            if is_module
            else "`training` defaults to True, whatever the mode",
            also=also(*others, (first.eval_called, "the model is switched to evaluation here"))[:3],
            culprit=Culprit(op=first.function, module=first.owner, phase="forward"),
            evidence=("`eval()` switches modules, not functions: predictions stay random",),
            remedies=(
                Remedy(title="create the `nn.Dropout` once in `__init__` and use it here")
                if is_module
                else Remedy(title=f"pass the mode: `{first.function}(x, p, training=self.training)`"),
                Remedy(title="if it is meant to drop in evaluation, write `training=True`"),
            ),
        )
