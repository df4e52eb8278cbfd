"""A random flip that mirrors the image and leaves its mask, points or boxes where they were."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MirroredAlone, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class MirroredWithoutTarget(Rule):
    """Two draws of a sample have images that mirror each other, and the same target."""

    code = "DAT177"
    name = "mirrored-without-target"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "drawn several times, a sample's image is mirrored and its target is not"
    needs = (MirroredAlone,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(MirroredAlone):
            yield self.diagnose(
                headline=f"`{seen.dataset}` flips images at random, and leaves their targets as they were",
                confidence="proven",
                where=seen.where,
                label="mirrors the image alone",
                culprit=Culprit(op="flip", phase="data", tensor=seen.dataset, rows=seen.samples),
                evidence=(
                    f"{seen.samples} of {seen.looked_at} samples were drawn several times: {_sides(seen)} of field "
                    f"`{seen.image}` change places from draw to draw, and field `{seen.target}` is the same each time",
                    "for every mirrored image the target says where things were before",
                ),
                remedies=(
                    Remedy(title="mirror the target in the same draw: masks as the image, x as `width - 1 - x`"),
                ),
            )


def _sides(seen: MirroredAlone) -> str:
    return "left and right" if seen.axis == -1 else "top and bottom"
