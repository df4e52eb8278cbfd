"""Graph normalisation by a degree of 0."""

from __future__ import annotations

import re

from torchmedic.facts import Operand, OpFact
from torchmedic.findings import Remedy
from torchmedic.rules._code import receiver
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, comes_from
from torchmedic.rules.numerics._reading import at_step, fitted, number, short

_DEGREE = re.compile(r"(?i)(?:^|_|\b)deg(?:ree)?s?(?:$|_|\b)")


_OF_NEGATIVE = (
    Remedy(title="keep the weights of edges at 0 or more, as by `edge_weight.clamp(min=0)` or `F.softplus`"),
    Remedy(title="or look for the edge whose weight should not be negative"),
)


class ZeroDegree(NumericsRule):
    """A node without neighbours has degree 0, and `0 ** -0.5` is infinite."""

    code = "NUM021"
    name = "zero-degree"
    tell_apart = (
        "the bad operation is a negative power, root or division of a count per node, and some counts are 0 or less"
    )
    rank = 35

    def explain(self, case: Case) -> Explanation | None:
        op, degree = case.op, case.divisor or case.first
        if op is None or degree is None or case.name not in ("pow", "rsqrt", "reciprocal", "div"):
            return None
        if case.name == "pow" and not (op.scalars and op.scalars[0] < 0):
            return None
        low = degree.tensor.minimum
        if low is None or low > 0 or not _is_degree(op, degree):
            return None
        zeros = degree.tensor.zeros or 0
        said = f"{zeros} of {degree.tensor.numel} nodes have degree 0" if zeros else f"a degree of {number(low)}"
        return Explanation(
            headline=fitted(
                f"{said}: `{short(op.expression)}` is not finite {at_step(case)}", f"{said} {at_step(case)}"
            ),
            where=op.where,
            mark=op.expression,
            label="0 to a negative power is infinite" if low == 0 else f"smallest degree {number(low)}",
            also=shown_at(degree.made_at, "the degree is counted here"),
            tensor=degree.name or None,
            remedies=_of_zero(degree.name or "deg") if low == 0 else _OF_NEGATIVE,
            tries=("base of the power", "argument of the root"),
        )


def _is_degree(op: OpFact, counted: Operand) -> bool:
    """By its name, by what made it, or by the library's own line."""
    inside = op.library.source if op.library is not None else ""
    return bool(_DEGREE.search(counted.name) or comes_from(counted, "degree") or _DEGREE.search(inside))


def _of_zero(name: str) -> tuple[Remedy, ...]:
    return (
        Remedy(title=f"count at least 1: `{receiver(name)}.clamp(min=1)`, or add self-loops"),
        Remedy(title="or write 0 where the inverse is infinite: `inv.masked_fill_(inv == float('inf'), 0)`"),
    )
