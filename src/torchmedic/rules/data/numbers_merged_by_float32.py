"""Large numbers, such as times since 1970, that were cast to float32 before anything was taken off them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import HeldColumn, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.data._columns import column_of

_COMPARED = {
    "rows": "each was compared with the row after it: those that differ do so by one or two such steps",
    "steps": "each was compared with the next in its row: those that differ do so by one or two such steps",
    "sorted": "each was compared with the next larger one: those that differ do so by one or two such steps",
}


class NumbersMergedByFloat32(Rule):
    """Neighbours of a column became one and the same number, and where they differ it is by float32's own steps."""

    code = "DAT144"
    name = "numbers-merged-by-float32"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "a column of the data lies above 16,777,216 in float32, and neighbours in it are equal"
    needs = (HeldColumn,)
    folds = ("answers-unrelated-to-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = max(run.all(HeldColumn), key=lambda one: (one.cast is not None, one.pairs), default=None)
        where = (seen.cast or seen.made) if seen is not None else None
        if seen is None or where is None:
            return
        column = column_of(seen)
        is_apart = seen.made is not None and seen.made != where
        yield self.diagnose(
            headline=f"float32 merges numbers in {column}: {seen.equal} of {seen.pairs} neighbours are equal",
            confidence="likely",
            step=seen.step,
            where=where,
            label="becomes float32 here" if seen.cast is not None else f"`{seen.name}` is made here",
            also=(Also(location=seen.made, why=f"`{seen.name}` is made here"),) if is_apart and seen.made else (),
            culprit=Culprit(field=seen.name, phase="data", tensor=seen.name),
            evidence=(
                f"they are about {seen.size:.4g}, where float32 goes in steps of {seen.spacing:.4g}",
                _COMPARED[seen.along],
            ),
            remedies=(
                Remedy(title="subtract the first value, or take differences, in int64 or float64, and cast after that"),
                Remedy(title="keep ids as int64, or number them from 0"),
            ),
        )
