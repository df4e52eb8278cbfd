"""What the series of a training say: where the loss began and ended, and what a constant answer would cost."""

from __future__ import annotations

import math

from torchmedic.facts import GradientsByDepth, Location, LossCall, Run, TrainingCourse

CLASS_LOSSES = ("cross_entropy", "nll_loss")
_VARIED_TARGETS = 1e-4
_SAME_ANSWER = 1e-6


def rate_line(course: TrainingCourse) -> Location | None:
    """The line to edit for another rate: the one that sets or computes it, else the one that builds the optimizer."""
    made = course.rate_made
    if course.rate_set is not None:
        return course.rate_set
    return made if made is not None and any(sign in made.source for sign in "*/") else course.built


def ending(course: TrainingCourse) -> float | None:
    """The mean loss over the last third."""
    parts = course.parts[-max(1, len(course.parts) // 3) :]
    return sum(parts) / len(parts) if parts else None


def constant_answer(run: Run) -> float | None:
    """The loss of the best answer that never changes, over all targets looked at; None for a loss of several terms."""
    calls = [call for call in run.all(LossCall) if call.baseline is not None]
    if len({(str(call.where), call.function) for call in run.all(LossCall)}) != 1 or not calls:
        return None
    if calls[0].function not in CLASS_LOSSES:
        return sum(call.baseline or 0.0 for call in calls) / len(calls)
    counts: dict[str, int] = {}
    for call in calls:
        for label, number in call.counts.items():
            counts[label] = counts.get(label, 0) + number
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values())


def learned_nothing(run: Run, course: TrainingCourse, first: int = 1) -> bool:
    """The loss at the end is no better than in the first steps, or than that of a constant answer."""
    end = ending(course)
    start = sum(course.head[:first]) / max(1, len(course.head[:first]))
    if end is None or start <= 0:
        return False
    level = constant_answer(run)
    return end >= 0.9 * start or (level is not None and level > 0.05 and end >= 0.97 * level)


def died(run: Run) -> bool:
    """Answers that differed from input to input at first, and at the end are one for all: every loss was given such.

    Two looks have to tell so; where answers were looked at once since, the gradients of all weights, gone as well.
    """
    terms: dict[tuple[str, str], list[LossCall]] = {}
    for call in run.all(LossCall):
        if call.given_spread is not None:
            terms.setdefault((str(call.where), call.expression), []).append(call)
    if not any((calls[-1].baseline or 0.0) > _VARIED_TARGETS for calls in terms.values()):
        return False
    for_two = all(len(calls) > 2 and _is_same_for_all(calls[-2]) for calls in terms.values())
    ended = all(not _is_same_for_all(calls[0]) and _is_same_for_all(calls[-1]) for calls in terms.values())
    return ended and (for_two or _gradients_gone(run))


def _is_same_for_all(call: LossCall) -> bool:
    size = max(abs(call.given.minimum or 0.0), abs(call.given.maximum or 0.0))
    return (call.given_spread or 0.0) <= _SAME_ANSWER * size


def _gradients_gone(run: Run) -> bool:
    """Whether no weight had a gradient in the last looks, and all had one in the first."""
    seen = run.first(GradientsByDepth)
    return seen is not None and len(seen.steps) > 2 and all(s[0] > 0 and not any(s[-2:]) for s in seen.sizes)


def is_simple(course: TrainingCourse) -> bool:
    """One optimizer, one line of backward, losses that are positive: where `the loss does not fall` means something."""
    return course.optimizers == 1 and course.backward_lines <= 1 and len(course.head) >= 10 and min(course.head) >= 0
