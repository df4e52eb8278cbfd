"""Image files that do not decode: cut off, empty, or something else under the name of an image."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ImagesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class BrokenImages(DataRule):
    """All of them, not only the first."""

    code = "DAT126"
    name = "broken-images"
    severity = "error"
    symptoms = (Symptom.CRASH,)
    tell_apart = "image files cannot be decoded"
    needs = (ImagesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ImagesSeen):
            for seen in place.seen:
                if seen.broken:
                    verb = "does" if seen.broken == 1 else "do"
                    what = "mask" if seen.masks else "image"
                    yield self.report(
                        place,
                        f"{seen.broken:,} of {many(seen.files, what)} {verb} not decode",
                        cells=seen.broken_cells,
                        label="does not decode",
                        evidence=["a DataLoader stops at the first of them, in the middle of an epoch"],
                        help=("fetch these files again, or delete them; `--json -` lists every one under `examples`",),
                        rows=seen.broken,
                    )
