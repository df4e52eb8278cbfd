"""The number to be predicted stands among the inputs."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TargetAmongInputs
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class TargetAmongTheInputs(Rule):
    """One position of the input equals the target in every sample."""

    code = "DAT073"
    name = "target-among-inputs"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_ZERO)
    tell_apart = "one position of every input is the target itself"
    needs = (TargetAmongInputs,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(TargetAmongInputs):
            place = ", ".join(map(str, seen.position))
            where = seen.made or seen.built
            yield self.diagnose(
                headline=f"the target stands in the input: position [{place}] equals it in all {seen.samples} samples",
                confidence="proven",
                where=where,
                label="the answer is in here",
                also=(Also(location=seen.built, why="the loader"),) if seen.built and seen.built != where else (),
                culprit=Culprit(phase="data", tensor="target", index=seen.position, rows=seen.samples),
                evidence=(
                    f"an input is of shape {list(seen.shape)}; the targets of the batches looked at have {seen.values} "
                    f"different values",
                    "the model has only to copy it, and will not have it when it is used",
                ),
                remedies=(Remedy(title="take the target out of the input, or let the window end one step earlier"),),
            )
            return
