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
            test = _own_name(seen.names, seen.train_names) or "the test loader"
            train = _own_name(seen.train_names, seen.names) or "the training loader"
            places = [(seen.where if seen.split else None, "read here"), (seen.train_built, "trained on here")]
            yield self.diagnose(
                headline=f"`{test}` reads {_which(seen)} samples that `{train}` trains on",
                confidence="proven",
                step=seen.step,
                where=seen.split or seen.where,
                label="the same data set" if seen.how == "dataset" else "overlaps with the training data",
                also=tuple(Also(location=place, why=why) for place, why in places if place is not None),
                culprit=Culprit(phase="data", rows=seen.shared),
                evidence=(
                    f"{seen.shared} of the {seen.looked_at} samples of `{test}` are in `{train}` as well: "
                    + (f"both read one `{seen.dataset}` object" if seen.how == "dataset" else "their indices overlap"),
                ),
                remedies=(
                    Remedy(title=f"give `{test}` data of its own: split once (`random_split`) and use each part once"),
                ),
            )


def _own_name(names: tuple[str, ...], others: tuple[str, ...]) -> str:
    """A name that the other loader does not have too, as the parameter of a function that both are given to."""
    return next((name for name in names if name not in others), next(iter(names), ""))


def _which(seen: SharedRows) -> str:
    return "the" if seen.shared == seen.looked_at else f"{seen.shared} of the"
