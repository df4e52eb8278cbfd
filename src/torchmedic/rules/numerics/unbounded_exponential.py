"""An exponential that nothing bounds: its argument grew a little, its result by orders of magnitude."""

from __future__ import annotations

import math

from torchmedic.facts import ExponentialSeen, TrainingCourse
from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, number, short
from torchmedic.rules.numerics.exponential_overflow import EXPONENTIALS

_LEAST_ARGUMENT = 7.0
_LEAST_SHARE = 0.3  # of the powers of ten of what exploded
_LARGEST_POWER = 38.0
_FAR_AWAY = 1.0  # as far as the weights were large at the start: then they explode, and the exponential with them


class UnboundedExponential(NumericsRule):
    """Values explode from one step to the next although the weights hardly moved, and an exponential makes them."""

    code = "NUM061"
    name = "unbounded-exponential"
    symptoms = (Symptom.LOSS_NAN, Symptom.LOSS_NOISY)
    tell_apart = "the loss explodes all of a sudden, the weights do not, and the large numbers come out of an `exp`"
    folds = ("ERR", "TRN")
    rank = 5

    def explain(self, case: Case) -> Explanation | None:
        seen = next((one for one in case.run.all(ExponentialSeen) if one.step == case.sick.step), None)
        if seen is None or not _makes_the_most(seen) or not _is_exploded(case) or not _weights_stayed(case):
            return None
        argument = f"`{short(seen.argument)}`" if seen.argument else "its argument"
        return Explanation(
            headline=fitted(
                f"`{seen.op}` makes {number(seen.made)} of {argument} {at_step(case)}: nothing bounds it",
                f"`{seen.op}` makes {number(seen.made)} of its argument {at_step(case)}: nothing bounds it",
            ),
            where=seen.where,
            mark=seen.expression,
            label=f"its argument reached {number(seen.reached)}",
            confidence="likely",
            also=shown_at(case.sick.optimizer_built, "the optimizer, whose weights did not explode"),
            tensor=seen.argument or None,
            notes=tuple(_notes(case, seen)),
            remedies=(
                Remedy(title=f"bound the argument: {_bounded(seen)}"),
                Remedy(title="and clip gradients before the update: `nn.utils.clip_grad_norm_`"),
            ),
            tries=(),
        )


def _makes_the_most(seen: ExponentialSeen) -> bool:
    size = math.log10(abs(seen.loss)) if math.isfinite(seen.loss) and abs(seen.loss) > 1 else _LARGEST_POWER
    return seen.reached >= _LEAST_ARGUMENT and seen.powers >= _LEAST_SHARE * size


def _is_exploded(case: Case) -> bool:
    """An update that could not be squared, or an overflow elsewhere of what was enormous already."""
    if case.sick.what == "update":
        return case.origin is None and not case.sick.bad_parameters
    # An exponential that overflows itself is told by a rule of its own.
    is_elsewhere = case.op is not None and case.name not in EXPONENTIALS
    return is_elsewhere and case.is_overflow_of_large_values and not case.is_half


def _weights_stayed(case: Case) -> bool:
    moved = [course.moved or 0.0 for course in case.run.all(TrainingCourse)]
    return case.grown is None and max(moved, default=0.0) < _FAR_AWAY


def _notes(case: Case, seen: ExponentialSeen) -> list[str]:
    course = case.run.first(TrainingCourse)
    notes = []
    if seen.calls > 1:
        notes.append(f"{seen.calls} calls of this line in one pass multiply by up to 1e{seen.powers:.0f} together")
    if course is not None and course.moved and len(course.head) > 1:
        notes.append(f"the loss was {number(course.head[0])} at first; the weights moved by {course.moved:.0%} since")
    return notes


def _bounded(seen: ExponentialSeen) -> str:
    name = seen.argument if seen.argument.isidentifier() else "x"
    return f"`torch.tanh({name})`, or `{name}.clamp(max=5)`"
