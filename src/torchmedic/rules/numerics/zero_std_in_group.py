"""Normalisation per group, where a group is constant."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import (
    column_list,
    every_other,
    field_of,
    group_labels,
    reached,
    variable_text,
    zero_labels,
)
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted
from torchmedic.rules.numerics._spreads import divides_by_spread, is_per_group


class ZeroStdInGroup(NumericsRule):
    """The z-score of a group whose values are all the same."""

    code = "NUM005"
    name = "zero-std-in-group"
    tell_apart = "the standard deviation that is 0 was computed per group, and only some groups are constant"
    rank = 10

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        if birth is None or not divides_by_spread(birth) or not is_per_group(birth):
            return None
        groups = group_labels(birth) or zero_labels(birth)
        names = column_list(birth) or variable_text(birth)
        return Explanation(
            headline=fitted(
                f"division by the zero standard deviation of a group made {names} non-finite",
                "division by the zero standard deviation of a group",
            ),
            where=birth.where,
            label=f"0 for {groups}" if groups else "0 in groups whose values are all the same",
            notes=tuple(reached(case, birth)),
            remedies=(
                Remedy(
                    title="divide by the group's deviation with a floor, or by that of the whole column where it is 0"
                ),
                Remedy(title="`std + 1e-17` only hides it: rounding noise divided by 1e-17 becomes values of any size"),
                *every_other(case),
            ),
            tensor=birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
        )
