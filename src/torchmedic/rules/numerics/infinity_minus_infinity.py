"""Two infinities that meet in a difference."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short


class InfinityMinusInfinity(NumericsRule):
    """`inf - inf` is NaN."""

    code = "NUM022"
    name = "infinity-minus-infinity"
    tell_apart = "NaN arises in a sum or difference of infinities that were put there on purpose"
    rank = 60

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or case.origin is None or case.name not in ("sub", "add", "rsub", "sum", "logsumexp", "cumsum"):
            return None
        placed = case.origin.placed
        if placed is None or not op.makes_nan:
            return None
        return Explanation(
            headline=fitted(
                f"infinity minus infinity in `{short(op.expression)}` {at_step(case)}",
                f"infinity minus infinity {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label="NaN where both are infinite",
            also=shown_at(placed.where, "the infinity is written here"),
            tensor=op.expression or None,
            remedies=(Remedy(title="mask after the difference, or use a large finite number in place of infinity"),),
        )
