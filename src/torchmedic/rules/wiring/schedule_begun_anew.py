"""A training that goes on from a checkpoint with its optimizer, but with its schedule back at the beginning."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScheduleBegunAnew
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 10


class ScheduleBegunAnewRule(Rule):
    """The optimizer was given the state of a training under way; its scheduler stands at step 0."""

    code = "WIR052"
    name = "schedule-begun-anew"
    severity = "warning"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.LOSS_NOISY)
    tell_apart = "the optimizer goes on from the checkpoint, the scheduler counts from 0 again"
    needs = (ScheduleBegunAnew,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ScheduleBegunAnew):
            if seen.steps < _LEAST_STEPS:
                continue
            where = seen.optimizer_loaded if seen.key else seen.saved or seen.optimizer_loaded
            yield self.diagnose(
                headline=_headline(seen),
                confidence="proven" if seen.key else "likely",
                step=seen.step,
                where=where,
                label="the state of the optimizer, but not of its scheduler",
                also=also(
                    (seen.built, f"`{seen.scheduler}` begins at step 0"),
                    (seen.read, "where the checkpoint is read"),
                    (seen.optimizer_loaded, "the optimizer is given its state"),
                    where=where,
                ),
                culprit=Culprit(op="load_state_dict", phase="setup", tensor=seen.key or seen.scheduler),
                evidence=(
                    f"the optimizer in the file began with lr={seen.first_rate:g} and had come to "
                    f"lr={seen.saved_rate:g}; the first step after that is made with lr={seen.rate:g}",
                    f"{seen.steps} steps were made with a schedule that counts from 0",
                ),
                remedies=_remedies(seen),
            )


def _headline(seen: ScheduleBegunAnew) -> str:
    if seen.key:
        return f"`{seen.scheduler}` begins anew; its {seen.saved_at} steps under '{seen.key}' are not loaded"
    return f"`{seen.scheduler}` begins anew: the checkpoint does not hold its state"


def _remedies(seen: ScheduleBegunAnew) -> tuple[Remedy, ...]:
    if seen.key:
        return (Remedy(title=f"call `scheduler.load_state_dict(checkpoint['{seen.key}'])` beside the optimizer's"),)
    return (
        Remedy(title="save `scheduler.state_dict()` in the checkpoint and load it beside the optimizer's"),
        Remedy(title=f"or build `{seen.scheduler}` with `last_epoch` set to the epoch that was reached"),
    )
