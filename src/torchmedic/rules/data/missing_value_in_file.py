"""Cells that were empty in the file."""

from __future__ import annotations

from torchmedic.facts import Birth
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, every_other, field_of, is_label, reached, variable_text
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
        names = column_list(birth) or variable_text(birth)
        kind = "missing" if birth.nan == birth.bad else "not finite"
        number, verb = ("1 value", "is") if birth.bad == 1 else (f"{birth.bad} values", "are")
        label = " (the label)" if is_label(case) else ""
        return Explanation(
            headline=fitted(
                f"{number} of {names}{label} {verb} {kind} in the file that is read here",
                f"{number} {verb} {kind} in the file that is read here",
            ),
            where=birth.where,
            label=f"rows {', '.join(birth.rows[:4])}" if birth.rows else "read here",
            notes=tuple(reached(case, birth)),
            tensor=birth.columns[0] if birth.columns else birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(
                Remedy(title=_dropping(birth)),
                Remedy(title="or fill them, and tell the network in a second column which were missing"),
                *every_other(case),
            ),
        )


def _dropping(birth: Birth) -> str:
    if birth.holder not in ("table", "series"):
        name = birth.variable if birth.variable.isidentifier() else "values"
        return f"drop the rows: `{name}[np.isfinite({name}).all(axis=1)]` after reading"
    return f"drop the rows: `.dropna(subset=[{', '.join(repr(c) for c in birth.columns[:3])}])` after reading"
