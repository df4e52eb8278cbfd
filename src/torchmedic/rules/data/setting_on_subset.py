"""An attribute is set on one part of a split, which does not read it: the data set below goes on with its own."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SettingOnSubset
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SettingOnSubsetUnread(Rule):
    """`random_split` hands out samples of the data set below: a transform hung on the part itself is never called."""

    code = "DAT160"
    name = "setting-on-subset"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "`part.dataset` has an attribute of the same name, with another value"
    needs = (SettingOnSubset,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for where in dict.fromkeys(seen.where for seen in run.all(SettingOnSubset)):
            seen = next(one for one in run.all(SettingOnSubset) if one.where == where)
            yield self.diagnose(
                headline=f"`{seen.text}` has no effect: a `Subset` does not read `{seen.attribute}`",
                confidence="proven",
                step=seen.step,
                where=where,
                mark=seen.text,
                label="nobody reads it here",
                culprit=Culprit(phase="data", field=seen.attribute, tensor=seen.subset),
                evidence=(
                    f"`{seen.subset}` hands out samples of `{seen.dataset}`, which has a `{seen.attribute}` of its own "
                    f"({seen.kept}) and goes on using it",
                ),
                remedies=(
                    Remedy(
                        title=f"build a second `{seen.dataset}` with this `{seen.attribute}`, and take "
                        f"`Subset(…, {seen.subset}.indices)` of it"
                    ),
                    Remedy(title=f"or apply `{seen.attribute}` in a small wrapper around each part"),
                ),
            )
