"""A negative number to a power that is no whole number."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, number, short


class FractionalPowerOfNegative(NumericsRule):
    """`(-1) ** 0.5` is NaN."""

    code = "NUM019"
    name = "fractional-power-of-negative"
    tell_apart = "the first bad operation is a power whose base is negative and whose exponent is no whole number"
    rank = 45

    def explain(self, case: Case) -> Explanation | None:
        op, base = case.op, case.first
        if op is None or base is None or case.name != "pow" or not op.makes_nan:
            return None
        low = base.tensor.minimum
        exponent = op.scalars[0] if op.scalars else None
        if low is None or low >= 0 or (exponent is not None and float(exponent).is_integer()):
            return None
        said = f" of {number(exponent)}" if exponent is not None else ""
        plainly = f"a fractional power{said} of {number(low)} is NaN {at_step(case)}"
        named = f"a fractional power{said} of a negative base: `{short(base.name)}` is {number(low)} {at_step(case)}"
        return Explanation(
            headline=fitted(named, plainly) if base.name else plainly,
            where=op.where,
            mark=op.expression,
            label=f"smallest base {number(low)}",
            tensor=base.name or None,
            remedies=(Remedy(title="keep the base positive, or write `x.sign() * x.abs().pow(a)`"),),
            tries=("base of the power",),
        )
