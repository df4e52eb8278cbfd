"""A shift, difference or rolling window that leaves the first rows empty."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, field_of, reached, variable_text
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted

_WINDOWS = {"shift", "rolling", "diff", "pct_change", "ewm", "lag", "resample", "interpolate"}


class RowsWithoutPast(NumericsRule):
    """The first rows of a time series have no past to look at."""

    code = "DAT033"
    name = "rows-without-past"
    tell_apart = "NaN first appears after `shift`, `diff`, `rolling` or the like"
    rank = 13

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        used = words(birth) & _WINDOWS if birth is not None else set()
        if birth is None or not used or not birth.nan:
            return None
        call = sorted(used, key=birth.operator.split().index)[-1]
        names = column_list(birth) or variable_text(birth)
        return Explanation(
            headline=fitted(
                f"`{call}` leaves NaN in {names}: {birth.nan} values, where there is no row to look at",
                f"`{call}` leaves {birth.nan} values NaN, where there is no row to look at",
            ),
            where=birth.where,
            mark=f".{call}(",
            label=f"NaN in rows {', '.join(birth.rows[:3])}" if birth.rows else "",
            notes=tuple(reached(case, birth)),
            tensor=birth.columns[0] if birth.columns else birth.variable,
            field=field_of(case),
            examples=birth.rows,
            rows=birth.bad,
            remedies=(Remedy(title="drop the rows without a past: `.dropna()` after this line, before the split"),),
        )
