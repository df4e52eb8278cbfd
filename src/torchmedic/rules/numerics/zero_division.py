"""A division by something that is exactly 0."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, text
from torchmedic.rules.numerics._divisions import zero_divisor
from torchmedic.rules.numerics._reading import at_step, fitted, short


class ZeroDivision(NumericsRule):
    """`x / 0` is infinite, `0 / 0` is NaN."""

    code = "NUM003"
    name = "zero-division"
    tell_apart = "the first bad operation is a division, and its divisor is 0 where the result is bad"
    rank = 40

    def explain(self, case: Case) -> Explanation | None:
        divisor = zero_divisor(case)
        if divisor is None or case.op is None:
            return None
        zeros = divisor.tensor.zeros
        counted = f" in {zeros} of {divisor.tensor.numel} places" if zeros and divisor.tensor.numel > 1 else ""
        return Explanation(
            headline=fitted(
                f"division by zero: `{short(divisor.name)}` is 0{counted} {at_step(case)}",
                f"division by zero{counted} {at_step(case)}",
            ),
            where=case.op.where,
            mark=divisor.name
            if divisor.name in (case.op.where.source if case.op.where else "")
            else case.op.expression,
            label="0 here",
            tensor=divisor.name or None,
            remedies=(
                Remedy(title=f"keep {text(divisor, 'the divisor')} off 0 by a floor that fits its scale"),
                Remedy(title="an epsilon far below that scale only hides it: the quotient becomes enormous instead"),
            ),
            tries=("divisor",),
        )
