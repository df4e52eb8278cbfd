"""Images without a mask, or masks without an image, where the others pair by their names."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ImagesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class UnpairedMasks(DataRule):
    """Two sorted lists of files then meet one off, and images get the masks of others."""

    code = "DAT224"
    name = "unpaired-masks"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "nearly all images and masks pair by their names, and some have no partner"
    needs = (ImagesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ImagesSeen):
            for seen in place.seen:
                if not seen.lonely and not seen.orphans:
                    continue
                verb = "has" if seen.lonely == 1 else "have"
                without = f"{many(seen.lonely, 'image')} {verb} no mask"
                orphans = f"{many(seen.orphans, 'mask')} {'has' if seen.orphans == 1 else 'have'} no image"
                yield self.report(
                    place,
                    " and ".join(said for said, n in ((without, seen.lonely), (orphans, seen.orphans)) if n),
                    cells=(*seen.lonely_cells[:2], *seen.orphan_cells[:2]),
                    label="without a partner",
                    evidence=[
                        "two sorted lists of files, paired by position, are off from the first gap on: "
                        "images get the masks of others"
                    ],
                    help=(
                        "pair by name: build the path of each mask from that of its image",
                        "and find the missing files, or leave out what has no partner",
                    ),
                    rows=seen.lonely + seen.orphans,
                )
