"""The same row several times: after a random split it stands on both sides."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RepeatedRows as Seen
from torchmedic.facts import Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share

# Columns so fine that no two rows are equal by chance: a few are then told of as well.
_NEVER = 1e-3
_FEW = 0.01


class RepeatedRows(DataRule):
    """Speaks only where there are more than coarse columns give by chance."""

    code = "DAT111"
    name = "repeated-rows"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "rows are equal in all columns but the id, more often than chance makes them"
    needs = (Seen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, Seen):
            for seen in place.seen:
                if seen.repeats < max(5, 10 * seen.by_chance):
                    continue
                few = seen.repeats < 0.005 * seen.rows
                if few and seen.by_chance > _NEVER:
                    continue
                yield self.report(
                    place,
                    f"{seen.repeats:,} of {many(seen.rows, 'row')} repeat another row in all columns",
                    severity="hint" if few else "warning",
                    cells=seen.cells,
                    evidence=[_evidence(seen)],
                    help=("drop them before splitting: `df = df.drop_duplicates()`",),
                    rows=seen.repeats,
                )


def _evidence(seen: Seen) -> str:
    part = share(seen.repeats, seen.rows)
    if seen.by_chance < _FEW:
        return f"{part} of the rows; by chance one would expect none"
    return f"{part} of the rows; by chance one would expect about {seen.by_chance:.2g}"
