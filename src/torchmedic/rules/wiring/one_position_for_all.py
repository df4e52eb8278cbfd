"""One row of the position table is added to every place of the sequence: order is not told to the model."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OnePositionForAll, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3


class OnePositionOnly(Rule):
    """The table is indexed with the length of the sequence, where a slice up to it was meant."""

    code = "WIR088"
    name = "one-position-for-all"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "what is added to the places of a sequence is one row, and its number is the length of the sequence"
    needs = (OnePositionForAll,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(OnePositionForAll))
        if len({seen.step for seen in found}) < _LEAST_STEPS:
            return
        seen = found[0]
        yield self.diagnose(
            headline=f"row {seen.row} of the table is added to all {seen.row} places: they cannot be told apart",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label=f"one row, where rows 0 to {seen.row - 1} are meant",
            culprit=Culprit(op="getitem", phase="forward", tensor=seen.expression),
            evidence=(
                f"the table is {list(seen.table)}, the sequences are {list(seen.to)}, and the row that is picked has "
                f"the number {seen.row}, their length",
            ),
            remedies=(
                Remedy(title="slice up to the length: `table[:, : x.size(1)]` instead of `table[:, x.size(1)]`"),
            ),
        )
