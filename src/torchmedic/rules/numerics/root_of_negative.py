"""The square root of a negative number."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, text
from torchmedic.rules.numerics._reading import at_step, fitted, number, short


class RootOfNegative(NumericsRule):
    """Differences and `E[x^2] - E[x]^2` fall below 0 by rounding."""

    code = "NUM020"
    name = "root-of-negative"
    tell_apart = "the first bad operation is a square root, and its smallest argument is below 0"
    rank = 44

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or argument is None or case.name not in ("sqrt", "rsqrt") or case.in_backward:
            return None
        low = argument.tensor.minimum
        if low is None or low > 0 or (low == 0 and case.name == "sqrt"):
            return None
        said = "0" if low == 0 else "a negative number"
        rounding = -1e-3 < low < 0 and "sub" in argument.made_by
        return Explanation(
            headline=fitted(
                f"`{case.name}` of {said}: `{short(argument.name)}` reaches {number(low)} {at_step(case)}",
                f"`{case.name}` of {said} {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label=f"smallest argument {number(low)}",
            tensor=argument.name or None,
            notes=("it is a difference that is about 0: rounding made it negative",) if rounding else (),
            remedies=(Remedy(title=f"clamp {text(argument)} to at least a small positive number before the root"),),
            tries=("argument of the root",),
        )
