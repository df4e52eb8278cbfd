"""The learning rate is 0 for good: every step leaves the weights as they are."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LearningRates, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class LearningRateZero(Rule):
    """Most steps of the run, and all of the last ones, had a learning rate of exactly 0."""

    code = "TRN073"
    name = "learning-rate-zero"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "the learning rate of every parameter group is 0 for most of the run, not only at its ends"
    needs = (LearningRates,)
    folds = ("TRN",)
    is_cause = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(LearningRates):
            ends = seen.zero_at_end >= 10 and seen.zero_at_end >= 0.5 * seen.steps
            if not ends and not _is_floored_warm_up(seen):
                continue
            # A schedule multiplies the rate it finds: 0 stays 0.
            scheduled = bool(seen.scheduler) and seen.given != 0
            where = (seen.floored or seen.scheduler_built if scheduled else None) or seen.built
            by = f"`{seen.scheduler}`" if scheduled else f"`{seen.optimizer}`"
            yield self.diagnose(
                headline=f"the learning rate is 0 in {seen.zero_at_end} of {seen.steps} steps, to the end of the run"
                if ends
                else f"the learning rate is 0 in the first {seen.zero_at_start} of {seen.steps} steps",
                confidence="proven",
                where=where,
                label=f"{by} sets it",
                also=also((seen.scheduler_built, "the schedule"), (seen.built, "the optimizer"), where=where),
                culprit=Culprit(op="lr", phase="optimizer"),
                evidence=(f"the highest learning rate of the run was {seen.highest:.3g}",),
                remedies=(
                    *(
                        (Remedy(title="divide by `/`: `//` drops the rest, and the factor is 0"),)
                        if seen.floored
                        else ()
                    ),
                    Remedy(
                        title="check the schedule: integer division, a length shorter than the run, or a factor of 0"
                        if scheduled
                        else f"give `{seen.optimizer}` a learning rate above 0"
                    ),
                ),
            )


def _is_floored_warm_up(seen: LearningRates) -> bool:
    """A rise from 0 whose factor is a whole number: it is 0 until it is 1. A true warm-up has 0 in its first step."""
    is_long = seen.zero_at_start >= 10 and seen.zero_at_start >= 0.05 * seen.steps
    return is_long and seen.floored is not None and seen.schedule_steps >= 0.8 * seen.zero_at_start and seen.highest > 0
