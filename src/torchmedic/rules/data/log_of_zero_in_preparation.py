"""A logarithm of zeros in NumPy or pandas."""

from __future__ import annotations

import re

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import field_of, is_label, reached, variable_text
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted, short

_LOGS = {"log", "log2", "log10", "log1p"}


class LogOfZeroInPreparation(NumericsRule):
    """Counts and prices are 0 now and then."""

    code = "DAT034"
    name = "log-of-zero-in-preparation"
    tell_apart = "the values became infinite or NaN in a logarithm, before torch saw them"
    rank = 12

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        used = words(birth) & _LOGS if birth is not None else set()
        if birth is None or not used:
            return None
        call = sorted(used)[0]
        inner = re.search(rf"{call}\(([^()]*(?:\([^()]*\))?[^()]*)\)", birth.expression)
        argument = inner.group(1) if inner else birth.variable
        kind = "NaN" if birth.nan == birth.bad else "minus infinity"
        of = "a negative number" if kind == "NaN" else "zero"
        label = " (the label)" if is_label(case) else ""
        return Explanation(
            headline=fitted(
                f"`{call}` of {of}: {birth.bad} values of {variable_text(birth)}{label} are {kind}",
                f"`{call}` made {birth.bad} values of {variable_text(birth)} {kind}",
            ),
            where=birth.where,
            mark=f"{call}({argument})",
            label=f"`{short(argument)}` is {'below 0' if kind == 'NaN' else '0'} in {birth.bad} places",
            notes=tuple(reached(case, birth)),
            tensor=birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(Remedy(title="use `log1p` for counts, or clip below at a positive number that means something"),),
        )
