"""Activations that grow inside the network although the weights do not."""

from __future__ import annotations

from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, factor
from torchmedic.rules.numerics._reading import at_step, fitted, losses_text, number


class ExplodingActivations(NumericsRule):
    """A layer, often a recurrent one, enlarges what goes through it without limit."""

    code = "NUM026"
    name = "exploding-activations"
    symptoms = (Symptom.LOSS_NAN, Symptom.LOSS_NOISY)
    tell_apart = "values inside the network are enormous while the norms of the weights stay as they were"
    rank = 50

    def explain(self, case: Case) -> Explanation | None:
        origin = case.origin
        if origin is None or case.op is None or case.grown is not None or not case.is_overflow_of_large_values:
            return None
        layer = origin.amplifier
        if layer is None or layer.after < 1e3 * layer.before:
            return None
        times = f"{number(layer.after / layer.before)} times"
        return Explanation(
            headline=fitted(
                f"`{layer.path}` enlarges its input {times}: values overflow {at_step(case)}",
                f"a {layer.type} enlarges its input {times} {at_step(case)}",
            ),
            where=layer.built or case.op.where,
            label=f"from {number(layer.before)} to {number(layer.after)} in one pass",
            confidence="likely",
            also=shown_at(case.op.where, "the first value that overflowed"),
            parameter=layer.weight,
            tensor=layer.weight,
            notes=(
                f"the norm of `{layer.weight}` is {number(layer.weight_norm)} and {_growth(case, layer.weight)}",
                *((losses_text(origin.losses),) if case.loss_grew else ()),
            ),
            remedies=(
                Remedy(title=f"initialise `{layer.weight}` smaller; recurrent weights by `nn.init.orthogonal_`"),
                Remedy(title="or use a bounded nonlinearity such as tanh, or normalise the state between steps"),
            ),
            tries=(),
        )


def _growth(case: Case, weight: str) -> str:
    growth = case.origin.growth if case.origin is not None else ()
    times = next((factor(g.values) for g in growth if g.name == weight), 1.0)
    return "did not grow over the last steps" if times < 1.1 else f"grew {number(times)}-fold over the last steps"
