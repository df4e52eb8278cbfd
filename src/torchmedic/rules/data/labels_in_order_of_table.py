"""Files sorted by name are read at one index with labels in the order of a table, which is another one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelsPairedApart, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class LabelsInOrderOfTable(Rule):
    """The table names the files in another order than the list that its labels are paired with."""

    code = "DAT146"
    name = "labels-in-order-of-table"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "labels read from a table keep its order, and the files at the same index are in another"
    needs = (LabelsPairedApart,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(LabelsPairedApart):
            wrong = f"{seen.wrong} of {seen.rows}"
            yield self.diagnose(
                headline=f"`self.{seen.files}` is not in the order of `{seen.table}`: {wrong} labels are wrong",
                confidence="proven",
                where=seen.where,
                label=f"in another order than `self.{seen.labels}`",
                culprit=Culprit(op="sorted", phase="data", rows=seen.wrong, field=seen.labels),
                evidence=(
                    f"index {seen.row} of `{seen.dataset}` reads `{seen.name}` with the label of `{seen.other}`",
                    f"`self.{seen.labels}` is in the order of the table, whose column `{seen.column}` names the files",
                    "sorted as text, 10 comes before 2; folders that are listed come in any order",
                ),
                remedies=(
                    Remedy(
                        title=f"make the path of each row from its `{seen.column}`, and read file and label from it"
                    ),
                    Remedy(title=f"or look the label up by the name of the file: a dict from `{seen.column}` to label"),
                ),
            )
