"""A few images of another mode or size: they come out with other channels or cannot be stacked."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ImagesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places

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


def _listed(forms: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"`{name}` {count:,}" for name, count in forms[:6])


def _odd(forms: tuple[tuple[str, int], ...], total: int) -> int:
    """How many are not of the common form, where one is common."""
    if len(forms) < 2 or forms[0][1] < _MOSTLY * total:
        return 0
    return total - forms[0][1]
