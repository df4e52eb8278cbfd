"""Whole numbers that float32 cannot tell apart: ids and time stamps that are cast to a tensor of floats."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ArraySeen, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, listed, places

_WHOLE_TO = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24}


class IntegersBeyondFloat32(DataRule):
    """Above 16,777,216 neighbours fall together."""

    code = "DAT107"
    name = "integers-beyond-float32"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "a column of whole numbers exceeds 16,777,216, or ids and times are floats too coarse for them"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for arrays in places(run, ArraySeen):
            coarse = [a for a in arrays.seen if a.coarse]
            if coarse:
                yield self._stored(arrays, coarse)
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

    def _stored(self, place: Place[ArraySeen], coarse: list[ArraySeen]) -> Diagnosis:
        """Floats that hold ids or times: what they could not tell apart is lost already."""
        first = max(coarse, key=lambda a: (a.maximum or 0) / _WHOLE_TO[a.coarse])
        largest = int(first.maximum or 0)
        step = 2 ** (largest.bit_length() - _WHOLE_TO[first.coarse].bit_length() + 1)
        others = [a.name for a in coarse if a is not first]
        return self.report(
            place,
            (
                f"`{first.name}` is stored as {first.coarse}, in which numbers near {largest:,} are {step:,} apart",
                f"`{first.name}` is stored as {first.coarse}, too coarse for its numbers",
            ),
            severity="warning",
            evidence=[
                f"{first.coarse} holds whole numbers to {_WHOLE_TO[first.coarse]:,}; beyond, neighbours fall together",
                *([f"the same holds for {listed(others)}"] if others else []),
            ],
            help=(
                "write it again from its source as int64: what fell together cannot be told apart any more",
                "take times relative to the first one before they become floats",
            ),
            field=first.name,
        )
