"""Training rows that are later than the test rows they help to predict."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SplitInTime
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share


class TrainingAfterTest(DataRule):
    """A warning where the column of time was given, a hint where it was guessed: not every table is a forecast."""

    code = "DAT115"
    name = "training-after-test"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "training rows carry times after the first test row"
    needs = (SplitInTime,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, SplitInTime):
            for seen in place.seen:
                if not seen.after:
                    continue
                yield self.report(
                    place,
                    (
                        f"{seen.after:,} of {seen.train_rows:,} training rows are later than `{seen.test}` begins",
                        f"{many(seen.after, 'training row')} are later than the first test row",
                    ),
                    severity="warning" if seen.given else "hint",
                    evidence=[
                        f"`{seen.train}` has `{seen.column}` from {seen.train_first} to {seen.train_last}, "
                        f"`{seen.test}` from {seen.test_first} to {seen.test_last}",
                        f"{share(seen.after, seen.train_rows)} of the training rows come from the future of a test row",
                    ],
                    help=(
                        f"split by time: train on `{seen.column}` before a day, test on what follows",
                        "leave it if the model is not to foresee anything",
                    ),
                    field=seen.column,
                    rows=seen.after,
                )
