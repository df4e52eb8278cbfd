"""Values that left the range of their type in the preparation."""

from __future__ import annotations

import re

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import field_of, reached, variable_text
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted, number

_GROWING = {"exp", "expm1", "power", "square", "cosh", "sinh", "cumprod", "prod", "**"}


class OverflowInPreparation(NumericsRule):
    """`exp` of a large number, a cast to float16."""

    code = "DAT038"
    name = "overflow-in-preparation"
    tell_apart = "the values became infinite in an exponential, a power or a cast, before torch saw them"
    rank = 17

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        if birth is None or birth.nan == birth.bad:
            return None
        cast = re.search(r"float16|\bhalf\b", birth.expression)
        used = words(birth) & _GROWING
        if not cast and not used:
            return None
        call = "float16" if cast else sorted(used)[0]
        largest = max((abs(o.tensor.maximum or 0.0) for o in birth.operands), default=0.0)
        reaching = f", from values up to {number(largest)}" if largest else ""
        return Explanation(
            headline=fitted(f"`{call}` made {birth.bad} values of {variable_text(birth)} infinite{reaching}"),
            where=birth.where,
            mark=call,
            label="does not fit the type",
            notes=tuple(reached(case, birth)),
            tensor=birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title="bound the values first, or keep them in a wider type (float32 instead of float16)"),
            ),
        )
