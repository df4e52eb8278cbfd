"""A `forward` of one's own that nobody calls, because its name is misspelt and the base class has one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, UnheardOverride
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class MisspelledOverride(Rule):
    """The class derives from a layer that works without it, so that nothing stops the script."""

    code = "WIR050"
    name = "misspelled-override"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "a class below `nn.Linear` or another layer defines `foward`, and the layer's own `forward` runs"
    needs = (UnheardOverride,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(UnheardOverride):
            yield self.diagnose(
                headline=f"`{seen.owner}.{seen.method}` is never called: `forward` of `{seen.base}` runs instead",
                confidence="proven",
                where=seen.where,
                label=f"`{seen.method}` is not `forward`",
                culprit=Culprit(module=seen.owner, op=seen.method, phase="forward"),
                evidence=(
                    f"`{seen.owner}` derives from `{seen.base}`, whose `forward` works alone: no error is raised",
                ),
                remedies=(Remedy(title=f"rename `{seen.method}` to `forward`"),),
            )
