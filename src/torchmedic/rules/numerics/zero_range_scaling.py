"""Scaling by a maximum or by a range that is 0."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, text
from torchmedic.rules.numerics._divisions import is_extreme, zero_divisor
from torchmedic.rules.numerics._reading import at_step, fitted, short


class ZeroRangeScaling(NumericsRule):
    """`x / x.max()` of something that is 0 throughout; `(x - min) / (max - min)` of a constant."""

    code = "NUM032"
    name = "zero-range-scaling"
    tell_apart = "the divisor is a maximum or a difference of maximum and minimum, and it is 0"
    rank = 39

    def explain(self, case: Case) -> Explanation | None:
        divisor = zero_divisor(case)
        if divisor is None or case.op is None or not is_extreme(divisor):
            return None
        zeros = divisor.tensor.zeros or 1
        return Explanation(
            headline=fitted(
                f"scaling by a range of 0: `{short(divisor.name)}` is 0 {at_step(case)}",
                f"scaling by a range of 0 {at_step(case)}",
            ),
            where=case.op.where,
            mark=divisor.name,
            label=f"0 in {zeros} of {divisor.tensor.numel} places",
            also=shown_at(divisor.made_at, "computed here"),
            tensor=divisor.name or None,
            notes=("what is scaled there is constant, or 0 throughout",),
            remedies=(
                Remedy(title=f"divide by {text(divisor)} with a floor: `.clamp_min(1e-6)`, and leave constants at 0"),
            ),
            tries=("divisor",),
        )
