"""Weights that grow from step to step until they overflow."""

from __future__ import annotations

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
                Remedy(
                    title=f"lower the learning rate tenfold, to {number((origin.learning_rate or 0.1) / 10)}",
                    detail="not tried: one step cannot show it; tenfold again while the loss still grows",
                ),
                Remedy(title="or clip gradients (`nn.utils.clip_grad_norm_`) and warm the learning rate up"),
            ),
            tries=(),
        )


def _calm(values: tuple[float, ...]) -> int:
    """How many of the first values had not yet doubled."""
    return sum(1 for value in values if value < 2 * values[0])
