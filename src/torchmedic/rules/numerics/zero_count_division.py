"""A masked mean in which the mask leaves nothing."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules._code import receiver
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._divisions import is_count, zero_divisor
from torchmedic.rules.numerics._reading import at_step, fitted, short


class ZeroCountDivision(NumericsRule):
    """`(x * mask).sum() / mask.sum()` with a mask that is 0 throughout."""

    code = "NUM034"
    name = "zero-count-division"
    tell_apart = "the divisor is a sum over a mask or a count, and it is 0"
    rank = 38

    def explain(self, case: Case) -> Explanation | None:
        divisor = zero_divisor(case)
        if divisor is None or case.op is None or not is_count(divisor):
            return None
        zeros = divisor.tensor.zeros or 1
        row = case.op.index[0] if case.op.index else None
        return Explanation(
            headline=fitted(
                f"a mean over nothing: `{short(divisor.name)}` is 0 {at_step(case)}",
                f"a mean over nothing: the count is 0 {at_step(case)}",
            ),
            where=case.op.where,
            mark=divisor.name,
            label=f"0 for {zeros} of {divisor.tensor.numel}",
            also=shown_at(divisor.made_at, "counted here"),
            tensor=divisor.name or None,
            notes=((f"the first is row {row} of the batch",) if row is not None and divisor.tensor.numel > 1 else ()),
            remedies=(
                Remedy(title=f"divide by at least 1: `{receiver(divisor.name or 'count')}.clamp(min=1)`"),
                Remedy(title="or leave samples out for which the mask is empty"),
            ),
            tries=("divisor",),
        )
