"""A scheduler made for epochs is stepped with every batch: the learning rate is gone before training has begun."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PlannedEpochs, Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._schedules import calls_for_each_update
from torchmedic.rules.wiring._telling import also, is_lightnings, line_to_edit

_LEAST_TURNS = 6
_BY_EPOCH = ("StepLR", "MultiStepLR", "ExponentialLR", "MultiplicativeLR", "LambdaLR", "PolynomialLR")


class SchedulerSteppedPerBatch(Rule):
    """Stepped once per optimizer step, and the rate is next to nothing for most of the run, or cycles by mistake."""

    code = "WIR023"
    name = "scheduler-stepped-per-batch"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the scheduler steps with every batch, and its settings count epochs"
    needs = (SchedulerSeen,)
    folds = ("TRN", "learning-rate-zero")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        schedulers = list(run.all(SchedulerSeen))
        for seen in schedulers:
            per_batch = seen.per_optimizer_step >= 0.9 * seen.optimizer_steps and seen.optimizer_steps >= 20
            if not per_batch or seen.stepped is None or seen.first_lr <= 0 or calls_for_each_update(seen):
                continue
            if _is_gone(seen) or _is_behind_its_end(seen, run):
                yield self._tell(seen, f"the learning rate fell from {seen.first_lr:.3g} to {seen.last_lr:.1e}")
            elif seen.type == "CosineAnnealingLR" and _cycles(seen) >= 3:
                yield self._tell_of_cycles(seen, run)
            elif seen.type == "LambdaLR" and seen.turns >= _LEAST_TURNS and _counts_epochs(seen, run):
                yield self._tell(seen, f"the rate went up and down {seen.turns} times")
            elif _is_over_at_once(seen) and len(schedulers) == 1:  # beside another, that one may have lowered the rate
                span = seen.settings["total_iters"]
                yield self._tell(seen, f"the learning rate was at its last value after {span:g} batches")

    def _tell_of_cycles(self, seen: SchedulerSeen, run: Run) -> Diagnosis:
        if _counts_epochs(seen, run):
            return self._tell(seen, f"the rate went up and down {seen.turns} times")
        span = seen.settings["T_max"]
        return self.diagnose(
            headline=f"`{seen.type}` turns every {span:g} of {seen.steps} steps: the rate turned {seen.turns} times",
            confidence="likely",
            where=seen.built or seen.stepped,
            label=f"`T_max={span:g}` is half a cycle, and the run has {seen.steps} steps",
            also=also((seen.stepped, "stepped here"), where=seen.built),
            culprit=Culprit(op="T_max", phase="optimizer"),
            evidence=(f"lr {seen.first_lr:.3g} at first, {seen.last_lr:.2g} at last",),
            remedies=(
                Remedy(title="give `T_max` the number of all steps that the scheduler makes"),
                Remedy(title="if cycles are meant, say so with `CosineAnnealingWarmRestarts`"),
            ),
        )

    def _tell(self, seen: SchedulerSeen, what: str) -> Diagnosis:
        settings = ", ".join(f"{name}={value:g}" for name, value in seen.settings.items())
        counts = f"`{settings}` counts calls of `scheduler.step()`"
        if seen.length and not settings:
            counts = f"its {seen.length} steps are calls of `scheduler.step()`"
        small = f"; below 1 % of it from step {seen.small_from} on" if seen.small_from is not None else ""
        epoch = f", an epoch has {seen.steps_per_epoch}" if seen.steps_per_epoch else ""
        where = line_to_edit(seen)
        return self.diagnose(
            headline=f"`{seen.type}` is stepped with every batch: {what}",
            confidence="proven" if seen.steps_per_epoch > 1 else "likely",
            where=where,
            label=f"runs {seen.steps} times in {seen.optimizer_steps} steps"
            if where == seen.stepped
            else f"stepped {seen.steps} times in {seen.optimizer_steps} steps",
            also=also((seen.built, counts), where=where),
            culprit=Culprit(op="scheduler.step", phase="optimizer"),
            evidence=(
                f"lr {seen.first_lr:.3g} at first, {seen.last_lr:.2g} at last{small}",
                f"`scheduler.step()` was called {seen.steps} times in {seen.optimizer_steps} optimizer steps{epoch}",
            ),
            remedies=(
                Remedy(title='give Lightning `"interval": "epoch"` in the inner dict of `"lr_scheduler"`')
                if is_lightnings(seen)
                else Remedy(title="call `scheduler.step()` once per epoch, after the loop over batches"),
                Remedy(title=f"or count batches in the settings of `{seen.type}`"),
            ),
        )


def _is_gone(seen: SchedulerSeen) -> bool:
    early = seen.small_from is not None and seen.small_from < 0.4 * seen.optimizer_steps
    by_function = seen.type == "LambdaLR" and seen.last_lr == 0
    return early and seen.last_lr < 1e-3 * seen.first_lr and seen.type in _BY_EPOCH and not by_function


def _is_over_at_once(seen: SchedulerSeen) -> bool:
    """A way down that ends in the first tenth of the run; a warm-up, which goes up, may be that short."""
    span = seen.settings.get("total_iters", 0.0)
    return (
        0 < span <= 0.1 * seen.optimizer_steps and seen.last_lr <= 0.3 * seen.first_lr and seen.optimizer_steps >= 100
    )


def _counts_epochs(seen: SchedulerSeen, run: Run) -> bool:
    """Whether the half cycle is about as long as the run has epochs: then it is stepped in the wrong place."""
    known = (seen.epochs, *(plan.epochs for plan in run.all(PlannedEpochs)))
    span = seen.settings.get("T_max") or seen.length
    return any(0.5 * epochs <= span <= 2 * epochs for epochs in known if epochs > 1)


def _is_behind_its_end(seen: SchedulerSeen, run: Run) -> bool:
    """Whether a function of the user's, as long as there are epochs, was through in the first tenth of the run."""
    is_short = seen.type == "LambdaLR" and 0 < seen.length <= 0.1 * seen.optimizer_steps
    return is_short and seen.last_lr <= 0.3 * seen.first_lr and _counts_epochs(seen, run)


def _cycles(seen: SchedulerSeen) -> float:
    span = seen.settings.get("T_max", 0.0)
    return seen.steps / (2 * span) if span else 0.0
