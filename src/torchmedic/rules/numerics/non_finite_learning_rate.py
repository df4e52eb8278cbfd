"""A learning rate that is NaN or infinite."""

from __future__ import annotations

import re

from torchmedic.facts import Birth, SchedulerSeen
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, number


class NonFiniteLearningRate(NumericsRule):
    """A schedule that ran past its end: a negative number to a fractional power is NaN, or even complex."""

    code = "NUM027"
    name = "non-finite-learning-rate"
    tell_apart = "gradients and weights were finite, the learning rate of the optimizer was not"
    rank = 5

    def explain(self, case: Case) -> Explanation | None:
        sick = case.sick
        if sick.what != "learning-rate":
            return None
        scheduler = next((s for s in case.run.all(SchedulerSeen)), None)
        birth = _birth(case)
        where = birth.where if birth is not None else (scheduler.built if scheduler is not None else sick.backward_at)
        return Explanation(
            headline=f"the learning rate of {sick.optimizer} is {sick.learning_rate} {at_step(case)}",
            where=where,
            label=_label(birth, scheduler),
            also=(
                *shown_at(sick.backward_at, "about to be used by this update"),
                *shown_at(sick.optimizer_built, "the optimizer"),
            ),
            tensor="lr",
            notes=(f"the loss before it was {number(sick.loss)}; all gradients are finite",),
            remedies=(
                Remedy(title="keep the base of the decay from falling below 0: `max(0, 1 - it / max_iters) ** power`"),
                Remedy(title="and let the total count what the counter counts: batches, or optimizer steps"),
            ),
        )


def _birth(case: Case) -> Birth | None:
    """The line that computed a number which is none, one about the rate before others."""
    fresh = [
        b
        for b in case.births
        if b.holder in ("number", "complex") and b.expression and not re.search(r"\b(?:inf|nan)\b", b.expression)
    ]
    named = [b for b in fresh if re.search(r"(?i)lr|rate|factor|decay|sched", f"{b.variable} {b.where.function}")]
    return next(iter(named or fresh), None)


def _label(birth: Birth | None, scheduler: SchedulerSeen | None) -> str:
    if birth is not None:
        return f"`{birth.variable}` is no number from here on"
    return "the schedule is built here" if scheduler is not None else "about to be used by this update"
