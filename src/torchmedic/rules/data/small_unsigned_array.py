"""Features kept in uint8: a difference of two of them wraps around instead of turning negative."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ArraySeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, places


class SmallUnsignedArray(DataRule):
    """A hint, for rows of features; images are expected to be uint8."""

    code = "DAT120"
    name = "small-unsigned-array"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "a table of features has dtype uint8 or uint16"
    needs = (ArraySeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ArraySeen):
            small = [
                a
                for a in place.seen
                if a.dtype in ("uint8", "uint16")
                and len(a.shape) == 2
                and not a.purpose
                and 2 <= a.shape[1] <= 64
                and (a.maximum or 0) > 1
            ]
            if small:
                width = 256 if small[0].dtype == "uint8" else 65536
                yield self.report(
                    place,
                    f"`{small[0].name}` is {small[0].dtype}, where 3 - 5 is {width - 2}",
                    evidence=[f"concerned: {listed([a.name for a in small])}; NumPy and torch wrap without a word"],
                    help=("cast before any arithmetic: `x.astype(np.float32)`, `x.float()`",),
                    field=small[0].name,
                )
