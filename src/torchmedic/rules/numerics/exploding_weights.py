"""Weights that grow from step to step until they overflow."""

from __future__ import annotations

import math
from itertools import pairwise

from torchmedic.facts import Origin
from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, factor
from torchmedic.rules.numerics._reading import at_step, fitted, growth_text, losses_text, number


class ExplodingWeights(NumericsRule):
    """The learning rate is too large: every update overshoots."""

    code = "NUM025"
    name = "exploding-weights"
    symptoms = (Symptom.LOSS_NAN, Symptom.LOSS_NOISY, Symptom.WEIGHTS_NAN)
    tell_apart = "the norm of the weights, and with it the loss, grew by orders of magnitude over the last steps"
    folds = ("ERR", "TRN")
    rank = 19

    def explain(self, case: Case) -> Explanation | None:
        origin, grown = case.origin, case.grown
        if origin is None or case.source is not None or grown is None or not case.is_overflow_of_large_values:
            return None
        rate = (
            f"{origin.optimizer} with lr {number(origin.learning_rate)}"
            if origin.learning_rate is not None
            else origin.optimizer
        )
        since = len(grown.values) - _calm(grown.values)
        return Explanation(
            headline=fitted(
                f"the weights exploded: `{grown.name}` grew {number(factor(grown.values))}-fold under {rate}",
                f"the weights exploded under {rate}: {number(factor(grown.values))}-fold {at_step(case)}",
            ),
            where=origin.optimizer_built or origin.op.where,
            label=f"learning rate {number(origin.learning_rate)}",
            confidence="likely",
            also=shown_at(origin.op.where, "the first value that overflowed"),
            parameter=grown.name,
            tensor=grown.name,
            notes=(
                growth_text(grown),
                f"it has grown for the last {since} steps",
                *((losses_text(origin.losses),) if origin.losses else ()),
            ),
            remedies=(
                _lower_rate(origin),
                Remedy(title="or clip gradients (`nn.utils.clip_grad_norm_`) and warm the learning rate up"),
            ),
            tries=(),
        )


def _lower_rate(origin: Origin) -> Remedy:
    """How far down: plain gradient descent tells by how fast it overshoots, other optimizers do not."""
    rate = origin.learning_rate or 0.1
    growth = _growth_per_step(origin.losses)
    if origin.optimizer != "SGD" or growth is None:
        return Remedy(title=f"lower the learning rate tenfold, to {number(rate / 10)}, and again while the loss grows")
    return Remedy(
        title=f"lower the learning rate to {number(rate / (1 + growth))} or less",
        detail=f"errors grew {number(growth)}-fold a step, so steps were {number((1 + growth) / 2)} times too long",
    )


def _growth_per_step(losses: tuple[float, ...]) -> float | None:
    """By which factor the error grew in a step at the start of the last rise; a loss goes with its square.

    Later factors say less: as the weights grow, so does the slope.
    """
    rises: list[float] = []
    for before, after in pairwise(losses):
        rises = [*rises, math.sqrt(after / before)] if 0 < before < after else []
    return min(rises[:3]) if len(rises) >= 2 else None


def _calm(values: tuple[float, ...]) -> int:
    """How many of the first values had not yet doubled."""
    return sum(1 for value in values if value < 2 * values[0])
