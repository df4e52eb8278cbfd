"""A gradient scaler that never finds a scale that works."""

from __future__ import annotations

from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, number


class LossScaleCollapse(NumericsRule):
    """Every step overflows, the scaler halves its scale and skips, for ever."""

    code = "NUM029"
    name = "loss-scale-collapse"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL, Symptom.LOSS_NAN)
    tell_apart = "the scaler skipped step after step, and the gradients are not finite at any scale"
    rank = 90

    def explain(self, case: Case) -> Explanation | None:
        sick = case.sick
        if sick.what != "scaler":
            return None
        scale = f": it has fallen to {number(sick.scale)}" if sick.scale is not None else ""
        return Explanation(
            headline=fitted(f"the loss scale collapses{scale} {at_step(case)}"),
            where=(case.op.where if case.op is not None else None) or sick.backward_at,
            label="not finite in half precision",
            confidence="likely",
            tensor="loss scale",
            notes=("a scaler that skips step after step trains nothing",),
            remedies=(Remedy(title="run the part that overflows in float32, or use bfloat16, which needs no scaler"),),
        )
