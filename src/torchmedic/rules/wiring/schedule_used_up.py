"""`OneCycleLR` was laid out for fewer steps than the training makes, and raises when they are over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_MESSAGE = re.compile(r"Tried to step (\d+) times\. The specified number of total steps is (\d+)")

_TIMES_TOO_OFTEN = 1.5
_REMEDIES = (
    Remedy(title="give it the steps there are: `steps_per_epoch=len(loader)`, `epochs=` the loop's"),
    Remedy(title="or step it once per epoch, with `total_steps=` the number of epochs"),
)


class ScheduleUsedUp(Rule):
    """The error tells how many steps were laid out; the epochs that were seen tell how many there are."""

    code = "WIR123"
    name = "schedule-used-up"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the error says `Tried to step … times`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        found = _MESSAGE.search(crash.message) if crash is not None else None
        if crash is None or found is None:
            return
        total = int(found[2])
        if crash.source == "text":
            yield self._told(crash, total)
        for seen in run.all(SchedulerSeen):
            if seen.settings.get("total_steps") != total or seen.built is None:
                continue
            raised = crash.user_frame.location if crash.user_frame is not None else seen.stepped
            if raised is not None and seen.steps >= _TIMES_TOO_OFTEN * seen.optimizer_steps > 0:
                yield self._too_often(seen, seen.built, raised, total)
                return
            yield self.diagnose(
                headline=f"`{seen.type}` is laid out for {total} steps, and the training makes more",
                confidence="proven",
                where=seen.built,
                label=f"`total_steps` is {total} here",
                also=also((raised, "asks for one step more"), where=seen.built),
                culprit=Culprit(op=seen.type, phase="optimizer"),
                evidence=(*_epochs(seen, total), f"the error: `{found[0]}`"),
                remedies=_REMEDIES,
            )
            return

    def _too_often(self, seen: SchedulerSeen, built: Location, stepped: Location, total: int) -> Diagnosis:
        """The optimizer does not step at every call of the scheduler's step, as where gradients are accumulated."""
        return self.diagnose(
            headline=f"`{seen.type}` was stepped {seen.steps} times in {seen.optimizer_steps} steps of the optimizer",
            confidence="proven",
            where=stepped,
            label="runs when the optimizer does not step, too",
            also=also((built, f"laid out for {total} steps"), where=stepped),
            culprit=Culprit(op=seen.type, phase="optimizer"),
            evidence=(
                f"at {seen.steps / seen.optimizer_steps:.3g} steps for each, its {total} steps are used up early",
            ),
            remedies=(Remedy(title="step it beside the optimizer, under the same `if`"),),
        )

    def _told(self, crash: Crash, total: int) -> Diagnosis:
        return self.diagnose(
            headline=f"the schedule is laid out for {total} steps, and the training makes more",
            confidence="proven",
            where=crash.user_frame.location if crash.user_frame is not None else None,
            label="asks for one step more",
            culprit=Culprit(phase="optimizer"),
            remedies=_REMEDIES,
        )


def _epochs(seen: SchedulerSeen, total: int) -> Iterator[str]:
    """How far the schedule reaches, by the epochs that were seen."""
    if seen.epochs > 1 and seen.steps_per_epoch:
        reach = total / seen.steps_per_epoch
        yield f"an epoch makes {seen.steps_per_epoch} steps: the schedule ends after {reach:.1f} of them"
