"""The same patient, speaker or device on both sides of a split."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SharedBetween
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, places, share


class GroupInTrainAndTest(DataRule):
    """Rows differ, but they come from the same source: the test measures memory, not generalisation."""

    code = "DAT114"
    name = "group-in-train-and-test"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "training and test rows are different ones of the same patients, speakers or groups"
    needs = (SharedBetween,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, SharedBetween):
            for seen in place.seen:
                if seen.how != "group" or seen.shared < max(2, 0.02 * seen.of):
                    continue
                column = seen.columns[0]
                yield self.report(
                    place,
                    (
                        f"{seen.shared:,} of {seen.of:,} `{column}` of `{seen.test}` are in `{seen.train}` too",
                        f"{seen.shared:,} of {seen.of:,} values of `{column}` are on both sides of the split",
                    ),
                    cells=seen.cells,
                    evidence=[f"{share(seen.shared, seen.of)} of the test groups were seen in training"],
                    help=(
                        f"split by group: `GroupShuffleSplit().split(df, groups=df['{column}'])`",
                        f"leave it if the model is to be used on the same values of `{column}` again",
                    ),
                    field=column,
                    rows=seen.shared,
                )
