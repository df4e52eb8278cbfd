"""Whole numbers that float32 cannot tell apart: ids and time stamps that are cast to a tensor of floats."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, places


class IntegersBeyondFloat32(DataRule):
    """Above 16,777,216 neighbours fall together."""

    code = "DAT107"
    name = "integers-beyond-float32"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "a column of whole numbers exceeds 16,777,216"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            large = [c for c in place.seen if c.whole_beyond_float32]
            if not large:
                continue
            first = max(large, key=lambda c: abs(c.maximum or 0))
            largest = int(max(abs(first.minimum or 0), abs(first.maximum or 0)))
            more = (
                f"; the same holds for {listed([c.column for c in large if c is not first])}" if len(large) > 1 else ""
            )
            yield self.report(
                place,
                f"`{first.column}` goes up to {largest:,}, where float32 cannot tell neighbours apart",
                evidence=[
                    f"float32 holds whole numbers to 16,777,216, bfloat16 to 256; beyond, ids fall together{more}"
                ],
                help=(
                    "keep ids as int64 (`torch.long`), or map them to 0 … n-1: `pd.factorize`",
                    "take time stamps relative to the first one before they become float32",
                ),
                field=first.column,
            )
