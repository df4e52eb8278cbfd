"""The test loader reads the training data."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SharedRows
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class SameDataInTrainAndTest(Rule):
    """A loader named for testing draws samples that the same model is trained on."""

    code = "DAT002"
    name = "same-data-in-train-and-test"
    symptoms = (Symptom.LOSS_EQUALS_TEST, Symptom.SCORE_TOO_GOOD)
    tell_apart = "both loaders read one data set object, or overlapping indices of it"
    needs = (SharedRows,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SharedRows):
            if seen.how == "rows":
                continue
            test = seen.names[0] if seen.names else "the test loader"
            train = seen.train_names[0] if seen.train_names else "the training loader"
            yield self.diagnose(
                headline=f"`{test}` reads {_which(seen)} samples that `{train}` trains on",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="the same data set" if seen.how == "dataset" else "overlaps with the training data",
                also=(Also(location=seen.train_built, why="trained on here"),) if seen.train_built else (),
                culprit=Culprit(phase="data", rows=seen.shared),
                evidence=(
                    f"{seen.shared} of the {seen.looked_at} samples of `{test}` are in `{train}` as well: "
                    + (f"both read one `{seen.dataset}` object" if seen.how == "dataset" else "their indices overlap"),
                ),
                remedies=(
                    Remedy(title=f"give `{test}` data of its own: split once (`random_split`) and use each part once"),
                ),
            )


def _which(seen: SharedRows) -> str:
    return "the" if seen.shared == seen.looked_at else f"{seen.shared} of the"
