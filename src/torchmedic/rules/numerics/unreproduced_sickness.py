"""A sick step that is well when it is run again."""

from __future__ import annotations

from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, became, fitted


class UnreproducedSickness(NumericsRule):
    """Nothing but chance, or state that the step does not own, differs between the two runs."""

    code = "NUM030"
    name = "unreproduced-sickness"
    symptoms = (Symptom.LOSS_NAN, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "the same step, with the same batch, weights and random numbers, was finite the second time"
    rank = 7

    def explain(self, case: Case) -> Explanation | None:
        sick = case.sick
        if case.origin is not None or sick.reproduced or "again" not in sick.way or "not" in sick.way.split():
            return None
        return Explanation(
            headline=fitted(f"{became(case)} {at_step(case)}, but the same step run again is finite"),
            where=sick.backward_at,
            label="backward of the sick step",
            confidence="possible",
            notes=("weights, buffers, batch and random numbers were those of the sick step",),
            remedies=(
                Remedy(title="look for memory read before it is written (`torch.empty`) and for data changed in place"),
                Remedy(title="or run with `torch.use_deterministic_algorithms(True)` and watch whether it comes back"),
            ),
        )
