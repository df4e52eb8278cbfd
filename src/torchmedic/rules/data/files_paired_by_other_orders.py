"""Pictures and masks read from two lists at one index, sorted differently: nearly every pair is a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FilesPairedApart, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class FilesPairedByOtherOrders(Rule):
    """Two lists name the same things, and the same place in them holds different ones."""

    code = "DAT142"
    name = "files-paired-by-other-orders"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the files that a data set reads at one index bear different numbers or names"
    needs = (FilesPairedApart,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FilesPairedApart):
            one, two = (f"self.{name}" for name in seen.lists)
            yield self.diagnose(
                headline=f"`{one}` and `{two}` are sorted differently: {seen.apart} of {seen.rows} pairs are wrong",
                confidence="likely",
                where=seen.where,
                label="in another order than its partners",
                culprit=Culprit(op="sorted", phase="data", rows=seen.apart),
                evidence=(
                    f"index {seen.row} of `{seen.dataset}` reads `{seen.names[0]}` with `{seen.names[1]}`",
                    "sorted as text, 10 comes before 2; folders that are listed come in any order",
                ),
                remedies=(
                    Remedy(title="make the name of the partner from the name of the file"),
                    Remedy(title="or sort both lists by the number in the name, as a number"),
                ),
            )
