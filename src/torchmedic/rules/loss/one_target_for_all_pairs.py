"""A contrastive loss tells every sample of the batch to match the same partner."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OneTargetForAll, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3


class OneTargetForAllPairs(Rule):
    """The scores are a table of all pairs of the batch, and all targets are one column of it."""

    code = "LOS072"
    name = "one-target-for-all-pairs"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the scores are all pairs of a batch, and the targets do not count along its diagonal"
    needs = (OneTargetForAll,)
    folds = ("TRN", "constant-target", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(OneTargetForAll))
        if len({seen.step for seen in found}) < _LEAST_STEPS or len({seen.column for seen in found}) != 1:
            return
        seen = found[0]
        where = seen.target_made or seen.where
        yield self.diagnose(
            headline=f"every sample of the batch is told to match sample {seen.column}: all targets are {seen.column}",
            confidence="proven",
            step=seen.step,
            where=where,
            mark=seen.target_text,
            label=f"{seen.column} for each of {seen.size} rows",
            also=(Also(location=seen.where, why="the scores are judged by it here"),)
            if seen.where is not None and seen.where != where
            else (),
            culprit=Culprit(op="cross_entropy", phase="forward", tensor=seen.names[1]),
            evidence=(
                f"`{seen.table_text}` gives a score to all {seen.size} x {seen.size} pairs of the batch: the partner "
                f"of row i is column i",
            ),
            remedies=(Remedy(title="count along the diagonal: `torch.arange(len(scores), device=scores.device)`"),),
        )
