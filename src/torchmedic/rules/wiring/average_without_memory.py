"""An averaged copy of the model that keeps next to nothing of itself: decay and its rest are swapped."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AverageSeen, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_FORGETFUL = 0.2
_LEAST_LOOKS = 3
# A decay that is warmed up begins low: (1 + n) / (10 + n) is 0.2 at the first update and 0.7 at the twentieth.
_LATE = 24


class AverageWithoutMemory(Rule):
    """At every update looked at, the copy took four fifths or more of itself from the model."""

    code = "WIR053"
    name = "average-without-memory"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the averaged copy is nearly overwritten by the model at each update"
    needs = (AverageSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(AverageSeen):
            late = seen.steps and seen.steps[-1] >= _LATE
            forgets = all(0 < kept <= _FORGETFUL for kept in seen.kept)
            if seen.shared or len(seen.kept) < _LEAST_LOOKS or not late or not forgets:
                continue
            where = seen.built if seen.by_torch else seen.updated or seen.built
            kept = 100 * sum(seen.kept) / len(seen.kept)
            yield self.diagnose(
                headline=f"`{seen.name}` keeps {kept:.2g} % of itself at each update and averages nothing",
                confidence="likely",
                where=where,
                label=f"takes {100 - kept:.3g} % from the model" if where is seen.updated else "follows the model",
                also=also((seen.built, f"`{seen.name}` is made here"), where=where),
                culprit=Culprit(phase="optimizer", tensor=seen.name, parameter=seen.parameter),
                evidence=(
                    f"at {len(seen.kept)} updates from step {seen.steps[0]} to {seen.steps[-1]}, `{seen.parameter}` "
                    f"became {kept:.2g} % of its old value and {100 - kept:.3g} % of that of the model",
                    "an average over many steps keeps 90 % to 99.99 %; a copy would be overwritten as a whole",
                ),
                remedies=(
                    Remedy(title=f"swap the two factors: keep {100 - kept:.3g} % and take {kept:.2g} % from the model"),
                ),
            )
