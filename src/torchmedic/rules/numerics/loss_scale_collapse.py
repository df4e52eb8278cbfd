"""A gradient scaler that never finds a scale that works."""

from __future__ import annotations

from torchmedic.findings import Remedy, Symptom
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, became, fitted, number


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
        is_small = sick.scale is not None and sick.scale < 1
        said = (
            f"the loss scale has fallen to {number(sick.scale)}" if is_small else f"no loss scale helps: {became(case)}"
        )
        return Explanation(
            headline=fitted(f"{said} {at_step(case)}"),
            where=(case.op.where if case.op is not None else None) or sick.backward_at,
            label="not finite, whatever the scale",
            confidence="likely",
            tensor="loss scale",
            remedies=(
                Remedy(title="mend what is not finite before scaling; in float16 run it in float32, or use bfloat16"),
            ),
        )
