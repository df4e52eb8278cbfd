"""Sorted labels and no shuffling: every batch shows one class, and the model forgets the others."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class LabelsInOrder(Rule):
    """A training loader goes through its data in order, and the labels come in long runs."""

    code = "DAT001"
    name = "labels-in-order"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the training loader does not shuffle and most of its batches hold a single class"
    needs = (LoaderSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for loader in run.all(LoaderSeen):
            if not _is_grouped(loader):
                continue
            name = loader.names[0] if loader.names else "the training loader"
            order = "sorted by label" if loader.is_sorted else "grouped by label"
            yield self.diagnose(
                headline=f"`{name}` does not shuffle data that is {order}",
                confidence="proven",
                step=loader.step,
                where=loader.built,
                label="no `shuffle=True`",
                culprit=Culprit(field=f"batch{loader.label_name}", phase="data"),
                evidence=(
                    f"{loader.single_class} of {loader.batches} batches of the first pass hold one class only; "
                    f"there are {loader.labels} classes in {loader.samples} samples",
                    f"labels of the first batches: {', '.join(loader.first_labels)}",
                ),
                remedies=(Remedy(title=f"pass `shuffle=True` to the DataLoader of `{name}`"),),
            )


def _is_grouped(loader: LoaderSeen) -> bool:
    trained = loader.trained >= max(4, loader.batches // 2)
    few = 2 <= loader.labels <= max(2, loader.samples // 10)
    share = loader.single_class / max(1, loader.batches)
    grouped = loader.batches >= 4 and loader.batch_size >= 4 and (share >= 0.8 or (loader.is_sorted and share >= 0.5))
    return loader.in_order and trained and few and grouped
