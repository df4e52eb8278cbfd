"""The derivative of a quotient whose divisor is tiny."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, number, short


class TinyDivisorDerivative(NumericsRule):
    """The quotient is finite, its derivative has the divisor squared below."""

    code = "NUM035"
    name = "tiny-divisor-derivative"
    tell_apart = "the first bad operation is the backward of a division or a logarithm of a tiny number"
    rank = 47

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or not case.in_backward or case.name not in ("div", "reciprocal", "log", "log1p", "rsqrt"):
            return None
        if case.derives_from_infinity("mul"):
            return None
        operand = case.divisor or case.first
        named = f"`{short(operand.name)}`" if operand is not None and operand.name else "the divisor"
        low = operand.tensor.minimum if operand is not None else None
        said = f" from {number(low)}" if low is not None else ""
        return Explanation(
            headline=fitted(
                f"the derivative of `{short(op.expression)}` overflows: {named} is tiny {at_step(case)}",
                f"the derivative of a division overflows: {named} is tiny {at_step(case)}",
                f"the derivative of a division overflows: the divisor is tiny {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label="finite forward, not finite backward",
            confidence="likely",
            tensor=operand.name if operand is not None else None,
            notes=(f"{named} ranges{said}; backward divides by it once more",) if said else (),
            remedies=(Remedy(title=f"put a floor under {named} that its square does not vanish at: 1e-6, not 1e-20"),),
            tries=("divisor", "argument of the logarithm", "argument of the root"),
        )
