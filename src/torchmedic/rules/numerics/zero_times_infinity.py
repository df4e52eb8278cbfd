"""A product of 0 and an infinity."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short


class ZeroTimesInfinity(NumericsRule):
    """`0 * inf` is NaN: multiplying by a mask does not remove what is infinite."""

    code = "NUM023"
    name = "zero-times-infinity"
    tell_apart = "NaN arises in a product, of 0 and an infinity that was put there on purpose"
    rank = 61

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or case.origin is None or case.name not in ("mul", "bmm", "mm", "addmm", "dot", "mv"):
            return None
        placed = case.origin.placed
        if placed is None or not op.makes_nan:
            return None
        return Explanation(
            headline=fitted(
                f"0 times infinity in `{short(op.expression)}` {at_step(case)}", f"0 times infinity {at_step(case)}"
            ),
            where=op.where,
            mark=op.expression,
            label="NaN where 0 meets an infinity",
            also=shown_at(placed.where, "the infinity is written here"),
            tensor=op.expression or None,
            remedies=(Remedy(title="choose with `torch.where` or `masked_fill`: a product with 0 keeps infinities"),),
        )
