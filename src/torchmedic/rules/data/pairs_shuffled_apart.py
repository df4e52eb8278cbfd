"""Samples and labels lose each other: only one of the two arrays is put in a new order."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ShuffledApart, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class PairsShuffledApart(Rule):
    """One of two arrays that are used row by row side by side was shuffled alone."""

    code = "DAT064"
    name = "pairs-shuffled-apart"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "one of two arrays of a pair is reordered by a line that does not touch the other one"
    needs = (ShuffledApart, TrainingCourse)
    folds = ("TRN", "LOS")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(ShuffledApart)
        if seen is None or run.first(TrainingCourse) is None:
            return
        yield self.diagnose(
            headline=f"`{seen.moved}` is shuffled alone: its rows no longer belong to those of `{seen.left}`",
            confidence="likely",
            where=seen.where,
            mark=seen.text,
            label=f"`{seen.left}` is not moved with it",
            also=(Also(location=seen.joined, why="the two are used row by row here"),)
            if seen.joined != seen.where
            else (),
            culprit=Culprit(op="shuffle", phase="data", tensor=seen.moved),
            evidence=(
                f"`{seen.text}` gives `{seen.moved}` a new order, and no line gives `{seen.left}` the same one",
                "what is left to learn is how often each target comes, whatever the sample shows",
            ),
            remedies=(_remedy(seen),),
        )


def _remedy(seen: ShuffledApart) -> Remedy:
    if "train_test_split(" in seen.text:
        return Remedy(title=f"split both in one call: `train_test_split(…, {seen.left})`")
    if ".sample(" in seen.text:
        return Remedy(title=f"shuffle the table first, and take `{seen.left}` out of it then")
    return Remedy(title=f"draw one order, and use it for both: `{seen.moved}[order]` and `{seen.left}[order]`")
