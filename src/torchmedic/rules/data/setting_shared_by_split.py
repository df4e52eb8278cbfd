"""An attribute of the data set below a split is set for one part, and the other part reads it too."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SharedSetting
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SettingSharedBySplit(Rule):
    """`random_split` makes two views of one data set, so that a transform set on one is set on both."""

    code = "DAT074"
    name = "setting-shared-by-split"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "`part.dataset` of both parts is the same object"
    needs = (SharedSetting,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SharedSetting):
            yield self.diagnose(
                headline=f"`{seen.text}` sets `{seen.attribute}` of both parts of the split",
                confidence="proven",
                where=seen.where,
                mark=seen.text,
                label=f"the `{seen.dataset}` of training as well",
                culprit=Culprit(phase="data", field=seen.attribute, tensor=seen.dataset),
                evidence=(
                    f"both parts read one `{seen.dataset}`, whose `{seen.attribute}` is now `{seen.value}` in training "
                    f"and in evaluation",
                ),
                remedies=(
                    Remedy(
                        title=f"give one part a data set of its own (`copy.copy`), and set `{seen.attribute}` there"
                    ),
                    Remedy(title=f"or apply `{seen.attribute}` in a small wrapper around each part"),
                ),
            )
            return
