"""Equal rows with different labels: no model can get both right."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RepeatedRows, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share

# Columns so fine that no two rows are equal by chance: a few are then told of as well.
_NEVER = 1e-3


class ConflictingLabels(DataRule):
    """Speaks only where there are more than coarse columns give by chance."""

    code = "DAT112"
    name = "conflicting-labels"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "rows are equal in every feature and differ in the label"
    needs = (RepeatedRows,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, RepeatedRows):
            for seen in place.seen:
                if seen.conflicting < max(5, 20 * seen.by_chance):
                    continue
                few = seen.conflicting < 0.01 * seen.rows
                if few and seen.by_chance > _NEVER:
                    continue
                yield self.report(
                    place,
                    f"{many(seen.conflicting, 'row')} of equal features have different values of `{seen.label}`",
                    severity="hint" if few else "warning",
                    cells=seen.conflict_cells,
                    evidence=[f"{share(seen.conflicting, seen.rows)} of {many(seen.rows, 'row')}"],
                    help=(
                        "ask who labelled them: two annotators, or a feature that told them apart is lost",
                        "or keep the label that most of the equal rows have",
                    ),
                    field=seen.label,
                    rows=seen.conflicting,
                )
