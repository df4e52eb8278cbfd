"""Test rows that overlap with rows trained on, or were mixed from them: made before the split."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import KinRows, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class RowsKinToTraining(Rule):
    """Windows of one series that overlap, or rows between two others, stand on both sides of the split."""

    code = "DAT078"
    name = "rows-kin-to-training"
    severity = "warning"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_EQUALS_TEST)
    tell_apart = "test rows share most cells with shifted training rows, or lie exactly between two of them"
    needs = (KinRows,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(KinRows):
            are_windows = seen.how == "windows"
            what = "overlap with windows trained on" if are_windows else "lie between two rows trained on"
            where = seen.split or seen.evaluated
            yield self.diagnose(
                headline=f"{seen.akin / seen.looked_at:.0%} of the test rows in `{seen.name}` {what}",
                confidence="likely",
                step=seen.step,
                where=where,
                label="deals neighbouring windows to both parts" if are_windows else "splits after rows were made up",
                also=tuple(
                    Also(location=place, why="tested here") for place in (seen.evaluated,) if place and place != where
                ),
                culprit=Culprit(phase="data", tensor=seen.name, rows=seen.akin),
                evidence=(_evidence(seen),),
                remedies=_remedies(are_windows),
            )


def _evidence(seen: KinRows) -> str:
    if seen.how == "windows":
        return (
            f"of {seen.looked_at} test rows looked at, {seen.akin} share most of their values, shifted, with "
            "a training row before them and with one behind them"
        )
    return (
        f"of {seen.looked_at} test rows looked at, {seen.akin} lie exactly on the straight line between two training "
        "rows, as SMOTE and other oversampling make them"
    )


def _remedies(are_windows: bool) -> tuple[Remedy, ...]:
    if are_windows:
        return (
            Remedy(title="split the series in time (or by recording) first, then cut windows within each part"),
            Remedy(title="leave a gap of one window between the parts"),
        )
    return (Remedy(title="split first, then oversample the training part only"),)
