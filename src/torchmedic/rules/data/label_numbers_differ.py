"""Training and test data number the same labels in different ways."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelMapsApart, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


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
                label=f"`{seen.parameter}` is not given" if seen.parameter else "made anew for each part of the data",
                also=also((seen.made, "without it, the map is made anew here"), where=seen.where)
                if seen.parameter
                else (),
                culprit=Culprit(phase="data", field=seen.attribute, tensor=seen.label),
                evidence=tuple(_evidence(seen, name)),
                remedies=tuple(_remedies(seen)),
            )


def _evidence(seen: LabelMapsApart, name: str) -> Iterator[str]:
    yield (
        f"{seen.differing} of {seen.common} labels have another number in `{seen.attribute}` of the two "
        f"`{seen.dataset}`"
    )
    if seen.lacking:
        known = ", ".join(f"'{label}'" for label in seen.lacking)
        yield f"{name} lacks labels of the training data: {known}"


def _remedies(seen: LabelMapsApart) -> Iterator[Remedy]:
    if seen.parameter:
        yield Remedy(title=f"hand over the training data's: `{seen.parameter}=…` where this `{seen.dataset}` is built")
        return
    yield Remedy(title=f"make `{seen.attribute}` once, from the training data, and hand it to both")
    yield Remedy(title="or number the sorted labels of all data")
