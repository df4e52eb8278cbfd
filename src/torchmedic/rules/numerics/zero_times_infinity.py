"""A product of 0 and an infinity."""

from __future__ import annotations

from torchmedic.facts import OpFact
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
        if op is not None and case.derives_from_infinity("mul") and any(o.tensor.zeros for o in op.operands):
            return _in_derivative(case, op)
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


def _in_derivative(case: Case, op: OpFact) -> Explanation:
    """What is masked with an infinity gets a gradient of 0, and what is computed with it afterwards multiplies both."""
    placed = case.origin.placed if case.origin is not None else None
    return Explanation(
        headline=fitted(
            f"0 times infinity in the derivative of `{short(op.expression)}` {at_step(case)}",
            f"0 times infinity in a derivative {at_step(case)}",
        ),
        where=op.where,
        mark=op.expression,
        label="its derivative multiplies the infinity by a gradient of 0",
        also=shown_at(placed.where if placed is not None else None, "the infinity is written here"),
        tensor=op.expression or None,
        notes=("what is masked with an infinity gets a gradient of 0, and 0 times infinity is NaN",),
        remedies=(
            Remedy(title="do this first, and write the infinity after it"),
            Remedy(title="or mask with a large finite number in place of infinity, such as -1e4"),
        ),
    )
