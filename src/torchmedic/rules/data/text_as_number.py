"""Text that was forced into numbers."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, every_other, field_of, reached, variable_text
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted


class TextAsNumber(NumericsRule):
    """`errors='coerce'` turns what it cannot read into NaN."""

    code = "DAT037"
    name = "text-as-number"
    tell_apart = "NaN first appears after `to_numeric`, `to_datetime` or `astype`"
    rank = 14

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        used = words(birth) & {"to_numeric", "astype", "to_datetime", "to_timedelta"} if birth is not None else set()
        if birth is None or not used or not birth.nan or "/" in words(birth):
            return None
        call = sorted(used)[-1]
        names = column_list(birth) or variable_text(birth)
        return Explanation(
            headline=fitted(
                f"`{call}` turned {birth.nan} values of {names} into NaN",
                f"`{call}` turned {birth.nan} values into NaN",
            ),
            where=birth.where,
            mark=call,
            label="what is no number becomes NaN",
            notes=tuple(reached(case, birth)),
            tensor=birth.columns[0] if birth.columns else birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title="look at the texts that are no numbers (`<0.5`, `n/a`), and decide what each means"),
                *every_other(case),
            ),
        )
