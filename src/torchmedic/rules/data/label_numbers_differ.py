"""Training and test data number the same labels in different ways."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelMapsApart, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class LabelNumbersDiffer(Rule):
    """Each data set makes its own map from labels to numbers, and the maps disagree."""

    code = "DAT072"
    name = "label-numbers-differ"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the score in training is good, and in evaluation right answers are counted as wrong"
    needs = (LabelMapsApart,)
    folds = ("overfitted-model",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(LabelMapsApart):
            name = f"`{seen.names[-1]}`" if seen.names else "the held-out loader"
            yield self.diagnose(
                headline=f"`{seen.attribute}` differs: '{seen.label}' is {seen.train} in training and {seen.other} in "
                f"{name}",
                confidence="proven",
                where=seen.where,
                label="made anew for each part of the data",
                culprit=Culprit(phase="data", field=seen.attribute, tensor=seen.label),
                evidence=(
                    f"{seen.differing} of {seen.common} labels have another number in `{seen.attribute}` of the two "
                    f"`{seen.dataset}`",
                ),
                remedies=(
                    Remedy(title=f"make `{seen.attribute}` once, from the training data, and hand it to both"),
                    Remedy(title="or number the sorted labels of all data"),
                ),
            )
