"""Positions that are counted over the samples of a batch instead of over the tokens of a sequence."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PositionsAlongBatch as Shifted
from torchmedic.facts import Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class PositionsAlongBatch(Rule):
    """The first rows of a table are added along the dimension that holds the samples."""

    code = "WIR083"
    name = "positions-along-batch"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "every token of a sample is given the same position, and every sample another one"
    needs = (Shifted,)
    folds = ("answers-unrelated-to-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(Shifted))
        if len({seen.step for seen in found}) < 2:
            return
        seen = found[0]
        yield self.diagnose(
            headline=f"positions are added along the batch: {seen.samples} samples, one position each",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label=f"{seen.added} meets {seen.to}",
            culprit=Culprit(op="add", phase="forward", tensor=seen.expression),
            evidence=(
                f"a slice {seen.added} of a table {seen.table} is added to {seen.to}; the loss has {seen.samples} "
                f"answers, so dimension {seen.along} holds the samples",
                f"all {seen.to[1 - seen.along]} tokens of a sample get the same position, and which one it is depends "
                f"on the sample's place in the batch",
            ),
            remedies=(
                Remedy(title=f"slice the table by `x.size({1 - seen.along})`, and add it along that dimension"),
                Remedy(title="or give the layers the order of dimensions they expect (`batch_first`)"),
            ),
        )
