"""A division by zero in NumPy, pandas, or torch before the step."""

from __future__ import annotations

import re

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import (
    column_list,
    divisor_of,
    every_other,
    field_of,
    reached,
    variable_text,
    zero_labels,
)
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted, short

_EXTREME = re.compile(r"\b(?:a?max|ptp|sum|norm)\(")


class DivisionByZeroInPreparation(NumericsRule):
    """A ratio of two columns, one over a count, a share of a total of 0."""

    code = "DAT035"
    name = "division-by-zero-in-preparation"
    tell_apart = "the values became infinite or NaN in a division, before the step began"
    rank = 16

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        if birth is None or not words(birth) & {"/", "divide", "div", "div_", "truediv", "true_divide", "reciprocal"}:
            return None
        divisor = divisor_of(birth)
        labels = zero_labels(birth)
        names = column_list(birth) or variable_text(birth)
        return Explanation(
            headline=fitted(
                f"division by zero made {birth.bad} values of {names} non-finite",
                f"division by zero: {birth.bad} values",
            ),
            where=birth.where,
            mark=divisor if divisor in birth.where.source else "",
            label=f"0 for {labels}" if labels else f"`{short(divisor)}` is 0 in places",
            notes=tuple(reached(case, birth)),
            tensor=birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title="decide what the quotient means where the divisor is 0, and write that value there"),
                Remedy(title="or put a floor under the divisor that fits its scale"),
                *(every_other(case) if _is_of_item(divisor) else ()),
            ),
        )


def _is_of_item(divisor: str) -> bool:
    """Whether it is 0 because a whole item, a mask or a signal, is: these the data check-up lists."""
    return _EXTREME.search(divisor) is not None
