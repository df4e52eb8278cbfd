"""Values that half precision cannot hold: too large for float16, too small to stay above 0, too large for float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchmedic.facts import ArraySeen, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, listed, many, places

_FLOAT32 = 3.4028234663852886e38
_SMALLEST_HALF = 2.9e-8


class ValuesBeyondHalf(DataRule):
    """A hint for float16; a warning where float32 overflows too."""

    code = "DAT106"
    name = "values-beyond-half"
    severity = "hint"
    symptoms = (Symptom.LOSS_NAN,)
    tell_apart = "values exceed 3.4e38, the largest number of float32, or beside arrays of float16 65504, its largest"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            columns = [c for c in place.seen if not c.role and c.family == "number"]
            # Nobody casts a table to float16 before its columns are scaled.
            beyond = [(c.column, _largest(c), _beyond(c)) for c in columns if _largest(c) > _FLOAT32]
            yield from self._large(place, beyond)
            tiny = [c.column for c in columns if c.smallest is not None and _largest(c) < _SMALLEST_HALF]
            if tiny:
                yield self._small(place, tiny)
        for arrays in places(run, ArraySeen):
            half = any(a.dtype == "float16" for a in arrays.seen)
            held = [a for a in arrays.seen if a.purpose == "" and a.dtype.startswith("float")]
            held = [a for a in held if half or _largest(a) > _FLOAT32]
            yield from self._large(arrays, [(a.name, _largest(a), a.beyond_half) for a in held])

    def _large(self, place: Place[Any], seen: list[tuple[str, float, int]]) -> Iterator[Diagnosis]:
        large = sorted((one for one in seen if one[2]), key=lambda one: -one[1])
        if not large:
            return
        name, largest, count = large[0]
        whole = largest > _FLOAT32
        kind = "float32" if whole else "float16"
        yield self.report(
            place,
            f"{many(count, 'value')} of `{name}` overflow {kind}; the largest is {largest:.4g}",
            severity="warning" if whole else "hint",
            evidence=[
                f"{kind} ends at {'3.4e38' if whole else '65504'}: these become infinite when the batch is cast",
                f"the same holds for {listed([n for n, _, _ in large[1:]])}"
                if len(large) > 1
                else "bfloat16 has the same end"
                if whole
                else "bfloat16 holds them, with three digits",
            ],
            help=("scale the column before it is cast: a z-score, or `log1p` for amounts",),
            field=name,
            rows=count,
        )

    def _small(self, place: Place[Any], names: list[str]) -> Diagnosis:
        return self.report(
            place,
            f"every value of `{names[0]}` becomes 0 in float16",
            evidence=[f"below 2.98e-8 float16 has only 0; concerned: {listed(names)}"],
            help=("scale the column before it is cast",),
            field=names[0],
        )


def _beyond(column: TableColumn) -> int:
    """Values that are no accident: isolated ones have been told of already."""
    isolated = column.outliers.count if column.outliers is not None else 0
    return max(0, column.beyond_half - isolated)


def _largest(seen: TableColumn | ArraySeen) -> float:
    return max(abs(seen.minimum or 0.0), abs(seen.maximum or 0.0))
