"""NaN or infinity in a batch, with no line of preparation behind it."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import entered, every_other, field_of, reached, shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted


class NonFiniteInput(NumericsRule):
    """Says which field, rows, columns and sample."""

    code = "DAT030"
    name = "non-finite-input"
    tell_apart = "the bad values were in the batch, and no line of the script made them"
    rank = 19

    def explain(self, case: Case) -> Explanation | None:
        source, origin = case.source, case.origin
        if source is None or origin is None or source.origin not in ("batch", "variable"):
            return None
        kind = "NaN" if source.value == "nan" else "infinite" if source.value else "not finite"
        column = f", column {source.columns[0]}" if source.column_count == 1 else ""
        birth = case.birth
        sample = (
            f"sample {source.sample}" if source.sample is not None else f"row {source.rows[0]}" if source.rows else ""
        )
        return Explanation(
            headline=fitted(
                f"`{source.name}` holds values that are {kind} {at_step(case)}: {sample}{column}".rstrip(": ")
            ),
            where=birth.where if birth is not None else origin.op.where,
            label="not finite from this line on" if birth is not None else "read here",
            confidence="proven" if birth is None else "likely",
            also=shown_at(origin.op.where, "read here"),
            tensor=birth.variable if birth is not None else source.name,
            field=field_of(case),
            notes=tuple(reached(case, birth)) if birth is not None else tuple(entered(case, source)),
            remedies=(
                Remedy(title="find out what those cells mean, then drop the rows or fill them in the preparation"),
                *every_other(case),
            ),
            rows=source.row_count or None,
        )
