"""A join with keys that the other table does not have."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, field_of, reached, variable_text
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import JOINS, words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted


class UnmatchedJoin(NumericsRule):
    """A left join leaves NaN where the other table has no row."""

    code = "DAT032"
    name = "unmatched-join"
    tell_apart = "NaN first appears after a join, reindex, concat, map or pivot"
    rank = 14

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        used = words(birth) & JOINS if birth is not None else set()
        if birth is None or not used or not birth.nan or "/" in words(birth):
            return None
        call = sorted(used)[0]
        names = column_list(birth) or variable_text(birth)
        return Explanation(
            headline=fitted(
                f"`{call}` left {birth.nan} values of {names} NaN: keys without a match",
                f"`{call}` left {birth.nan} values NaN: keys without a match",
            ),
            where=birth.where,
            mark=f".{call}(",
            label="keys on one side only",
            notes=tuple(reached(case, birth)),
            tensor=birth.columns[0] if birth.columns else birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title="join with `how='inner'`, or fill the columns of keys that have no match"),
                Remedy(title="look at the keys first: `merge(..., indicator=True)` tells which have no partner"),
            ),
        )
