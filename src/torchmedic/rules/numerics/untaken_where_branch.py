"""A branch that `where` did not take, and that poisons the gradient all the same."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted, short


class UntakenWhereBranch(NumericsRule):
    """`where` chooses values; backward runs through both branches, and 0 times infinity is NaN."""

    code = "NUM008"
    name = "untaken-where-branch"
    tell_apart = "the loss is finite; the bad operation lies in a branch whose bad elements `where` threw away"
    rank = 20

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or case.sick.what == "loss" or op.absorbed_by not in ("where", "masked_fill"):
            return None
        if case.derives_from_infinity("sub"):
            return None
        named = f"`{short(case.first.name)}`" if case.first is not None and case.first.name else "its argument"
        # In backward the values themselves were finite: only their derivative is not.
        dropped = "values" if case.in_backward else "bad values"
        derivative = "infinite derivative" if case.in_backward else "derivative"
        return Explanation(
            headline=fitted(
                f"`{op.absorbed_by}` drops the {dropped} of `{short(op.expression)}`, not their {derivative}",
                f"`{op.absorbed_by}` drops {dropped} of `{case.name}`, not their {derivative}",
            ),
            where=op.where,
            mark=op.expression,
            label="computed for every element, also where it is not chosen",
            also=shown_at(op.absorbed_at, "chosen here, too late for backward"),
            tensor=case.first.name if case.first is not None else None,
            notes=("backward multiplies the 0 that comes from the branch not taken by an infinite derivative: NaN",),
            remedies=(
                Remedy(
                    title=f"choose the input first: replace {named} by a harmless value where the branch is not taken"
                ),
            ),
        )
