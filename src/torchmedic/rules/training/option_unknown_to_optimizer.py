"""A group of parameters with an option of its own that nothing reads: `lr_mul` does not change the learning rate."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, UnknownGroupOption
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class OptionUnknownToOptimizer(Rule):
    """Torch keeps any option of a group; only those that somebody reads mean something."""

    code = "TRN046"
    name = "option-unknown-to-optimizer"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "groups of parameters differ in an option that is written and never read"
    needs = (UnknownGroupOption,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(UnknownGroupOption):
            values = ", ".join(f"{value:g}" for value in seen.values)
            rates = ", ".join(f"{rate:g}" for rate in seen.rates)
            yield self.diagnose(
                headline=f"`{seen.optimizer}` does not know the option `{seen.option}` of its groups: it has no effect",
                confidence="likely",
                where=seen.where,
                label="kept, and read by nobody",
                also=(Also(location=seen.built, why="the optimizer that is given the groups"),)
                if seen.built is not None and seen.built != seen.where
                else (),
                culprit=Culprit(op=seen.optimizer, phase="setup"),
                evidence=(
                    f"`{seen.option}` is {values} in {seen.groups} groups; the script reads it nowhere",
                    *((f"the learning rate of the groups is {rates}",) if rates else ()),
                ),
                remedies=(Remedy(title='give each group its own `lr`: `{"params": …, "lr": base * factor}`'),),
            )
