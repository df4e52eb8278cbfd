"""NaN or infinity in a label."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import entered, every_other, field_of, is_label, reached, shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted


class NonFiniteLabel(NumericsRule):
    """The loss of a sample without a label is NaN."""

    code = "DAT036"
    name = "non-finite-label"
    tell_apart = "the bad values were in what the loss compares with, and no line of the script made them"
    rank = 18

    def explain(self, case: Case) -> Explanation | None:
        source, origin, birth = case.source, case.origin, case.birth
        if source is None or origin is None or source.origin not in ("batch", "variable") or not is_label(case):
            return None
        kind = "NaN" if source.value == "nan" else "infinite"
        sample = f", sample {source.sample} first" if source.sample is not None else ""
        return Explanation(
            headline=fitted(f"{source.row_count} labels in `{source.name}` are {kind} {at_step(case)}{sample}"),
            where=birth.where if birth is not None else origin.op.where,
            label="labels are not finite from this line on"
            if birth is not None
            else "compared with the prediction here",
            confidence="proven" if birth is None else "likely",
            also=shown_at(origin.op.where, "compared with the prediction here"),
            tensor=birth.variable if birth is not None else source.name,
            field=field_of(case),
            notes=tuple(reached(case, birth)) if birth is not None else tuple(entered(case, source)),
            rows=source.row_count or None,
            remedies=(
                Remedy(title="leave samples without a label out of training: filter the data set by `isfinite`"),
                *every_other(case),
            ),
        )
