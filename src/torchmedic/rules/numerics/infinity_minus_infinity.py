"""Two infinities that meet in a difference."""

from __future__ import annotations

from torchmedic.facts import OpFact
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
        if op is not None and case.derives_from_infinity("sub") and all(o.tensor.inf for o in op.operands):
            return _in_derivative(case, op)
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


def _in_derivative(case: Case, op: OpFact) -> Explanation:
    """The weights of a sum of exponentials are `exp(x - result)`: where all terms are -inf, so is the result."""
    placed = case.origin.placed if case.origin is not None else None
    return Explanation(
        headline=fitted(
            f"infinity minus infinity in the derivative of `{short(op.expression)}` {at_step(case)}",
            f"infinity minus infinity in the derivative of `{case.name}` {at_step(case)}",
        ),
        where=op.where,
        mark=op.expression,
        label="NaN backward where both sides are infinite",
        also=shown_at(placed.where if placed is not None else None, "the infinity is written here"),
        tensor=op.expression or None,
        notes=(f"the derivative of `{case.name}` takes its operands from one another",),
        remedies=(Remedy(title="use a large finite number in place of infinity, such as -1e30 in float32"),),
    )
