"""Weights that grow from step to step until they overflow."""

from __future__ import annotations

from torchmedic.facts import SchedulerSeen
from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, factor
from torchmedic.rules.numerics._reading import at_step, fitted, growth_text, losses_text, number

_RAISED = 3.0


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
        if (gradient := case.thrown_by) is not None:
            return _thrown(case, gradient)
        rate = (
            f"{origin.optimizer} with lr {number(origin.learning_rate)}"
            if origin.learning_rate is not None
            else origin.optimizer
        )
        raised = _raised_by(case)
        where = (raised.factor_made or raised.built) if raised is not None else origin.optimizer_built
        since = len(grown.values) - _calm(grown.values)
        sudden = factor(grown.values) < 2
        return Explanation(
            headline=f"the weights exploded: `{grown.name}` overflowed at once under {rate}"
            if sudden
            else fitted(
                f"the weights exploded: `{grown.name}` grew {number(factor(grown.values))}-fold under {rate}",
                f"the weights exploded under {rate}: {number(factor(grown.values))}-fold {at_step(case)}",
            ),
            where=where or origin.op.where,
            label=f"learning rate {number(origin.learning_rate)}" if raised is None else _raise_text(raised),
            confidence="likely",
            also=(
                *(shown_at(origin.optimizer_built, "built with a smaller rate") if raised is not None else ()),
                *shown_at(origin.op.where, "the first value that overflowed"),
            ),
            parameter=grown.name,
            tensor=grown.name,
            notes=(
                growth_text(grown),
                *((f"it has grown for the last {since} steps",) if since > 1 else ()),
                *((losses_text(origin.losses),) if origin.losses else ()),
            ),
            remedies=(
                *((_keep_low(raised),) if raised is not None else ()),
                Remedy(title="begin with a learning rate of 0.01 for SGD, 0.001 for Adam")
                if sudden
                else Remedy(
                    title=f"lower the learning rate tenfold, to {number((origin.learning_rate or 0.1) / 10)}",
                    detail="not tried: one step cannot show it; tenfold again while the loss still grows",
                ),
                Remedy(title="or clip gradients (`nn.utils.clip_grad_norm_`) and warm the learning rate up"),
            ),
            tries=(),
        )


def _thrown(case: Case, gradient: float) -> Explanation | None:
    """A recurrent layer whose gradient grew from time step to time step, in a step with an ordinary loss."""
    origin, own = case.origin, case.recurrence
    layer = origin.amplifier if origin is not None else None
    if origin is None or own is None or layer is None:
        return None
    rate = number(origin.learning_rate)
    return Explanation(
        headline=fitted(
            f"the gradient of `{layer.path}` exploded to {number(gradient)}, and no line clips its norm",
            f"the gradient of a {layer.type} exploded to {number(gradient)}, and no line clips its norm",
        ),
        where=case.sick.backward_at or origin.optimizer_built or origin.op.where,
        label="gradients go from here to the update as they are",
        confidence="likely",
        also=(
            *shown_at(layer.built, f"`{layer.path}` is built here"),
            *shown_at(origin.optimizer_built, f"lr {rate} makes updates of them"),
            *shown_at(origin.op.where, "the first value that overflowed"),
        ),
        parameter=own.name,
        tensor=own.name,
        notes=(
            growth_text(own),
            f"`{layer.path}` ({layer.type}) uses `{own.name}` again and again in one pass, and each use multiplies the "
            "gradient by it",
            losses_text(origin.losses),
        ),
        remedies=(
            Remedy(
                title="clip between `backward` and the update: `nn.utils.clip_grad_norm_(model.parameters(), 1.0)`",
                detail="not tried: one step cannot show it",
            ),
            Remedy(title="or use a gated layer (LSTM, GRU), or shorter sequences"),
        ),
        tries=(),
    )


def _raised_by(case: Case) -> SchedulerSeen | None:
    """The schedule that had lifted the rate far above what the optimizer was built with when the weights went."""
    origin = case.origin
    for seen in case.run.all(SchedulerSeen):
        is_of_optimizer = origin is not None and str(seen.optimizer_built) == str(origin.optimizer_built)
        if is_of_optimizer and not seen.nested and seen.first_lr > 0 and seen.last_lr >= _RAISED * seen.first_lr:
            return seen
    return None


def _raise_text(seen: SchedulerSeen) -> str:
    return f"`{seen.type}` had raised lr from {number(seen.first_lr)} to {number(seen.last_lr)}"


def _keep_low(seen: SchedulerSeen) -> Remedy:
    return Remedy(
        title=f"keep the rate of `{seen.type}` at {number(seen.first_lr)} or below: `min(1.0, …)` around its factor"
        if seen.factor_made is not None
        else f"keep the rate of `{seen.type}` at {number(seen.first_lr)} or below"
    )


def _calm(values: tuple[float, ...]) -> int:
    """How many of the first values had not yet doubled."""
    return sum(1 for value in values if value < 2 * values[0])
