"""Cells that were empty in the file."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, field_of, is_label, reached
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted


class MissingValueInFile(NumericsRule):
    """An empty cell is read as NaN."""

    code = "DAT031"
    name = "missing-value-in-file"
    tell_apart = "the value was NaN or infinite right after the line that reads the file"
    rank = 15

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        if birth is None or not birth.was_read:
            return None
        names = column_list(birth) or f"`{birth.variable}`"
        kind = "missing" if birth.nan == birth.bad else "not finite"
        listed = ", ".join(repr(c) for c in birth.columns[:3])
        label = " (the label)" if is_label(case) else ""
        return Explanation(
            headline=fitted(
                f"{birth.bad} values of {names}{label} are {kind} in the file that is read here",
                f"{birth.bad} values are {kind} in the file that is read here",
            ),
            where=birth.where,
            label=f"rows {', '.join(birth.rows[:4])}" if birth.rows else "read here",
            notes=tuple(reached(case, birth)),
            tensor=birth.columns[0] if birth.columns else birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title=f"drop the rows: `.dropna(subset=[{listed}])` after reading"),
                Remedy(title="or fill them, and tell the network in a second column which were missing"),
            ),
        )
