"""A few images of another mode or size: they come out with other channels or cannot be stacked."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ImagesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, many, places

_MOSTLY = 0.9


class MixedImageForms(DataRule):
    """A warning for modes and for a few odd sizes; where sizes vary by nature there is nothing to say."""

    code = "DAT127"
    name = "mixed-image-forms"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "most images have one mode and size, and some do not"
    needs = (ImagesSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ImagesSeen):
            for seen in place.seen:
                if seen.otherwise:
                    yield self._otherwise(place, seen)
                decoded = seen.files - seen.broken
                odd_modes, odd_sizes = _odd(seen.modes, decoded), _odd(seen.sizes, decoded)
                if decoded < 10 or not (odd_modes or odd_sizes):
                    continue
                what = "mode" if odd_modes else "size"
                count = odd_modes or odd_sizes
                forms = seen.modes if odd_modes else seen.sizes
                told = {"modes": seen.modes if odd_modes else (), "sizes": seen.sizes if odd_sizes else ()}
                yield self.report(
                    place,
                    f"{count:,} of {many(seen.files, 'image')} have another {what} than `{forms[0][0]}`",
                    cells=seen.odd_cells,
                    label="of another form",
                    evidence=[f"{word}: {_listed(some)}" for word, some in told.items() if some],
                    help=(
                        "convert as they are opened: `Image.open(path).convert('RGB')`"
                        if odd_modes
                        else "bring them to one size: `Resize((height, width))`, with both numbers",
                    ),
                    rows=count,
                )

    def _otherwise(self, place: Place[ImagesSeen], seen: ImagesSeen) -> Diagnosis:
        usual, rarer = seen.marked
        return self.report(
            place,
            f"{seen.otherwise:,} of {many(seen.files, 'mask')} mark things with {rarer}, the others with {usual}",
            cells=seen.otherwise_cells,
            label="marked otherwise",
            evidence=["`mask / 255` leaves 0.004 of a 1; as class numbers, 255 is none, or one that is left out"],
            help=("make all of them 0 and 1 as they are opened: `mask = (mask > 0)`",),
            rows=seen.otherwise,
        )


def _listed(forms: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"`{name}` {count:,}" for name, count in forms[:6])


def _odd(forms: tuple[tuple[str, int], ...], total: int) -> int:
    """How many are not of the common form, where one is common."""
    if len(forms) < 2 or forms[0][1] < _MOSTLY * total:
        return 0
    return total - forms[0][1]
