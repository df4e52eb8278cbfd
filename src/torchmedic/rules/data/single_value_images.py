"""Images or masks of one value: `mask / mask.max()` divides by zero, and there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchmedic.facts import ArraySeen, ImagesSeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, many, places, share

_MANY = 0.5


class SingleValueImages(DataRule):
    """All black, all white, or any other single value."""

    code = "DAT125"
    name = "single-value-images"
    symptoms = (Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "every pixel of an image or mask has the same value"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ImagesSeen):
            for seen in place.seen:
                if seen.flat:
                    what = "mask" if seen.masks else "image"
                    yield self.report(
                        place,
                        f"{seen.flat:,} of {many(seen.files, what)} hold{'s' if seen.flat == 1 else ''} a single value",
                        # A mask of zeros is one without an object; those of another value, or many, are odd.
                        severity="hint" if seen.masks and seen.black == seen.flat < _MANY * seen.files else "",
                        cells=seen.flat_cells,
                        evidence=_evidence(seen.black, what),
                        help=_help(what),
                        rows=seen.flat,
                    )
        for arrays in places(run, ArraySeen):
            for array in arrays.seen:
                # Padding and empty patches are common; a mask or an image among few is not.
                if array.flat and (array.purpose == "mask" or array.flat <= 0.05 * array.shape[0]):
                    yield self._array(arrays, array)

    def _array(self, place: Place[Any], array: ArraySeen) -> Diagnosis:
        shown = ", ".join(map(str, array.flat_items))
        return self.report(
            place,
            f"{array.flat:,} of {array.shape[0]:,} items of `{array.name}` hold a single value",
            evidence=[
                f"items {shown}{' …' if array.flat > len(array.flat_items) else ''}; the first is {array.flat_value:g} "
                f"throughout; {share(array.flat, array.shape[0])} of all",
                "`x / x.max()` and `(x - mean) / std` are NaN for an item of zeros",
            ],
            help=_help("mask" if array.purpose == "mask" else "item"),
            field=array.name,
            rows=array.flat,
        )


def _evidence(black: int, what: str) -> list[str]:
    dark = f"{black:,} of them {'is' if black == 1 else 'are'} 0 throughout: " if black else ""
    return [f"{dark}`{what} / {what}.max()` is NaN for zeros, a z-score is NaN for any single value"]


def _help(what: str) -> tuple[str, str]:
    return (
        f"leave these out, or divide by a number that is not taken from the {what}: `{what} / 255`",
        "or keep the divisor off zero: `x / x.max().clamp_min(1)`",
    )
