"""A schedule that counts the steps of an epoch: the learning rate is back at its beginning whenever an epoch begins."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RateBegunAnew, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class RateBegunAnewRule(Rule):
    """The rate went the same way again and again, each time cut short and back where it began."""

    code = "TRN053"
    name = "rate-begun-anew"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the learning rate is a saw: it jumps back to its first value after equal numbers of steps"
    needs = (RateBegunAnew,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(RateBegunAnew):
            where = seen.where or seen.built
            rises = seen.reached > seen.begin
            what = "warm-up" if rises else "schedule"
            yield self.diagnose(
                headline=f"the {what} begins anew every {seen.steps} steps: lr {seen.begin:.2g} to {seen.reached:.2g}, "
                f"{seen.times} times",
                confidence="proven" if seen.counter else "likely",
                step=seen.step,
                where=where,
                label=f"`{seen.counter}` counts the steps of one epoch" if seen.counter else "its rate jumps back",
                also=(Also(location=seen.built, why="the optimizer whose rate it is"),)
                if seen.built is not None and seen.built != where
                else (),
                culprit=Culprit(op="lr", phase="optimizer", tensor=seen.counter or None),
                evidence=(
                    f"after step {seen.step} the rate went from {seen.reached:.3g} back to {seen.begin:.3g} at once, "
                    f"and then the same way again",
                    f"the highest rate of the run was {seen.highest:.3g}; a stretch ended at {seen.reached:.3g}",
                ),
                remedies=(
                    Remedy(title="count the steps of the whole run: `epoch * len(loader) + i`"),
                    Remedy(title="or keep one counter outside the loop over epochs, and never set it back"),
                ),
            )
