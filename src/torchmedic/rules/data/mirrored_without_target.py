"""A random flip that mirrors the image and leaves its mask, points or boxes where they were."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location, MirroredAlone, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


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
            where = seen.called or seen.where
            yield self.diagnose(
                headline=f"`{seen.dataset}` flips images and their targets by different draws"
                if seen.is_apart
                else f"`{seen.dataset}` flips images at random, and leaves their targets as they were",
                confidence="proven",
                where=where,
                label=_label(seen, where),
                also=also((seen.where, "flips by chance"), where=where),
                culprit=Culprit(op="flip", phase="data", tensor=seen.dataset, rows=seen.samples),
                evidence=(
                    f"{seen.looked_at} samples were drawn several times, and {seen.samples} of them show it: "
                    f"{_sides(seen)} of field `{seen.image}` change places from draw to draw, and field "
                    f"`{seen.target}` {_stays(seen)}",
                    "an image that was flipped has the target of one that was not, or the other way round"
                    if seen.is_apart
                    else "for every mirrored image the target says where things were before",
                ),
                remedies=tuple(_remedies(seen)),
            )


def _label(seen: MirroredAlone, where: Location) -> str:
    if not seen.is_apart:
        return "mirrors the image alone"
    return "draws for each of them anew" if where == seen.called else "flips by a draw of its own"


def _stays(seen: MirroredAlone) -> str:
    return "changes in other draws" if seen.is_apart else "is the same each time"


def _remedies(seen: MirroredAlone) -> Iterator[Remedy]:
    if seen.is_apart:
        yield Remedy(title="draw once, and flip image and target by the same draw")
    else:
        yield Remedy(title="mirror the target in the same draw: masks as the image, x as `width - 1 - x`")


def _sides(seen: MirroredAlone) -> str:
    if seen.axis == 0:
        return "the four sides"
    return "left and right" if seen.axis == -1 else "top and bottom"
