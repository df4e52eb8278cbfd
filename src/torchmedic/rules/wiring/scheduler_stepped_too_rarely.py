"""A schedule laid out in batches is stepped once per epoch: the run ends before the schedule has begun."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LearningRates, Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, ended_well, is_lightnings, line_to_edit

_LEAST_WASTED = 8
_LEAST_WARM_UP = 50


class SchedulerSteppedTooRarely(Rule):
    """The length of the schedule is the number of optimizer steps, but it was stepped far less often."""

    code = "WIR024"
    name = "scheduler-stepped-too-rarely"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the schedule's length equals the number of batches, while it is stepped once per epoch"
    needs = (SchedulerSeen,)
    folds = ("TRN", "scheduler-never-stepped")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SchedulerSeen):
            if not ended_well(run) or seen.nested or not seen.steps:
                continue
            if (idle := _updates_at_zero(run, seen)) is not None:
                yield self._warm_up_by_epochs(seen, idle)
                continue
            length = _length(seen)
            if not length:
                if _is_warming_up(seen):
                    yield self._never_warm(seen)
                continue
            where = line_to_edit(seen)
            yield self.diagnose(
                headline=f"`{seen.type}` spans {length:g} steps but was stepped {seen.steps} times: lr never got going"
                if seen.type == "OneCycleLR"
                else f"`{seen.type}` spans {length:g} steps but was stepped only {seen.steps} times",
                confidence="proven",
                where=where,
                label="runs once per epoch" if where == seen.stepped else f"laid out for {length:g} steps",
                also=also(
                    (seen.built, f"laid out for {length:g} calls of `scheduler.step()`"),
                    (seen.stepped, "stepped once per epoch in here"),
                    where=where,
                ),
                culprit=Culprit(op="scheduler.step", phase="optimizer"),
                evidence=(
                    f"the run made {seen.optimizer_steps} optimizer steps and {counted(seen.steps, 'scheduler step')}",
                    f"lr ended at {seen.last_lr:.2g}; the schedule was {100 * seen.steps / length:.0f} % through",
                ),
                remedies=(_step_with_batches(seen), Remedy(title="or lay the schedule out in epochs")),
            )

    def _never_warm(self, seen: SchedulerSeen) -> Diagnosis:
        where = line_to_edit(seen)
        return self.diagnose(
            headline=f"`{seen.type}` warms up for {seen.peak} steps but was stepped only {counted(seen.steps, 'time')}",
            confidence="likely",
            where=where,
            label="runs once per epoch" if where == seen.stepped else f"warms up over {seen.peak} steps",
            also=also((seen.built, f"its rate rises for {seen.peak} calls of `scheduler.step()`"), where=where),
            culprit=Culprit(op="scheduler.step", phase="optimizer"),
            evidence=(
                f"the run made {seen.optimizer_steps} optimizer steps and {counted(seen.steps, 'scheduler step')}",
                f"the highest lr reached was {seen.largest_lr:.2g} of {seen.first_lr:.2g}",
            ),
            remedies=(_step_with_batches(seen), Remedy(title="or count the warm-up in epochs")),
        )

    def _warm_up_by_epochs(self, seen: SchedulerSeen, idle: int) -> Diagnosis:
        often = round(seen.optimizer_steps / seen.steps)
        where = line_to_edit(seen)
        return self.diagnose(
            headline=f"the first {idle} updates had lr 0: `{seen.type}` is stepped once in {often} updates",
            confidence="likely",
            where=where,
            label="runs once per epoch" if where == seen.stepped else "stepped once per epoch",
            also=also((seen.built, "its warm-up begins at 0, and leaves it with the first call"), where=where),
            culprit=Culprit(op="scheduler.step", phase="optimizer"),
            evidence=(
                f"the run made {seen.optimizer_steps} optimizer steps and {counted(seen.steps, 'scheduler step')}",
                f"the highest lr reached was {seen.largest_lr:.2g}, the last {seen.last_lr:.2g}",
            ),
            remedies=(
                _step_with_batches(seen),
                Remedy(title="or count the warm-up in epochs, and let it begin above 0"),
            ),
        )


def _length(seen: SchedulerSeen) -> float:
    """The length that the schedule was given, where it is that of the run in batches, and was not nearly gone through.

    That of a function is the user's own arithmetic: it has to come out at the steps of the run.
    """
    told = seen.settings.get("total_steps") or seen.settings.get("T_max") or 0.0
    length = told or seen.length
    least, most = (0.7, 1.4) if told else (0.9, 1.12)
    fits_batches = length >= 20 and least * length <= seen.optimizer_steps <= most * length
    return length if fits_batches and seen.steps <= 0.25 * length else 0.0


def _is_warming_up(seen: SchedulerSeen) -> bool:
    """Whether the run ended far inside a warm-up that has room in its batches."""
    has_room = _LEAST_WARM_UP <= seen.peak <= 0.5 * seen.optimizer_steps
    is_once_per_epoch = 2 <= seen.steps <= seen.epochs + 1 and seen.optimizer_steps >= _LEAST_WASTED * seen.steps
    return has_room and is_once_per_epoch and seen.steps <= 0.2 * seen.peak and seen.largest_lr < 0.3 * seen.first_lr


def _step_with_batches(seen: SchedulerSeen) -> Remedy:
    if is_lightnings(seen):
        return Remedy(
            title='return `"lr_scheduler": dict(scheduler=scheduler, interval="step")`',
            detail='Lightning reads "interval" in that inner dict alone; without it the interval is "epoch"',
        )
    return Remedy(title="call `scheduler.step()` after every `optimizer.step()`, inside the loop over batches")


def _updates_at_zero(run: Run, seen: SchedulerSeen) -> int | None:
    """How many updates a warm-up from 0 wasted, where that is all between two calls of the schedule."""
    rates = next(
        (r for r in run.all(LearningRates) if r.scheduler == seen.type and r.built == seen.optimizer_built), None
    )
    often = seen.optimizer_steps / seen.steps
    if rates is None or often < _LEAST_WASTED or seen.steps < 2:
        return None
    return rates.zero_at_start if rates.zero_at_start >= 0.8 * often else None
