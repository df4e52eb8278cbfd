"""A mask or a weight for each sample meets a loss that was summed up already: it weighs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WeightAfterReduction
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3


class WeightsTooLate(Rule):
    """The loss is one number when the weights come: every sample counts in it alike, masked or not."""

    code = "LOS073"
    name = "weight-after-reduction"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "what the mask is multiplied with has no dimension left"
    needs = (WeightAfterReduction,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(WeightAfterReduction))
        for where in dict.fromkeys(seen.where for seen in found):
            same = [seen for seen in found if seen.where == where]
            if len({seen.step for seen in same}) < _LEAST_STEPS:
                continue
            seen = same[0]
            cure = "dim=-1" if seen.function in ("sum", "mean") else "reduction='none'"
            yield self.diagnose(
                headline=f"the mask `{seen.weights}` comes too late: `{seen.function}` has made one number of the loss"
                if seen.is_mask
                else f"the weights `{seen.weights}` come too late: `{seen.function}` has made one number of the loss",
                confidence="proven",
                step=seen.step,
                where=where,
                mark=seen.expression,
                label=f"one number times {list(seen.shape)}",
                also=(Also(location=seen.reduced, why="the loss is reduced here"),) if seen.reduced != where else (),
                culprit=Culprit(op=seen.function, phase="forward", tensor=seen.weights),
                evidence=(
                    f"`{seen.reduced_text}` takes {list(seen.reduced_shape)} down to one number; each element of "
                    f"`{seen.weights}` then scales the same total",
                ),
                remedies=(
                    Remedy(title=f"keep the samples apart with `{cure}`, multiply by `{seen.weights}`, then average"),
                ),
            )
