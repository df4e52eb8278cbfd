"""A mean of an empty selection."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short


class MeanOverNothing(NumericsRule):
    """The mean of no elements is 0 / 0."""

    code = "NUM015"
    name = "mean-over-nothing"
    tell_apart = "a mean or a loss with mean reduction ran over a tensor without elements"
    rank = 32

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or not op.makes_nan:
            return None
        empty = next((o for o in case.operands if o.tensor.numel == 0), None)
        if empty is None:
            return None
        named = f"`{short(empty.name)}`" if empty.name else "the selection"
        return Explanation(
            headline=fitted(
                f"a mean over nothing: {named} has no elements {at_step(case)}", f"a mean over nothing {at_step(case)}"
            ),
            where=op.where,
            mark=op.expression,
            label=f"empty: {empty.tensor}",
            also=shown_at(empty.made_at, "the selection that matched nothing"),
            tensor=empty.name or None,
            remedies=(Remedy(title="leave the term out when nothing is selected, or divide the sum by at least 1"),),
            tries=("mean over nothing",),
        )
