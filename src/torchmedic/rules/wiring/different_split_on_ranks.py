"""A random split that differs between ranks, so that one trains on what another is tested on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import RankStep, Run, SplitSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_NAMES = re.compile(r"^\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*=")


class DifferentSplitOnRanks(Rule):
    """The same line cuts the same data set into parts of the same sizes, with other rows in them on each rank."""

    code = "WIR113"
    name = "different-split-on-ranks"
    severity = "warning"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "a row is in the training part on one rank and in another part on a second one"
    needs = (SplitSeen, RankStep)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        splits = [list(rank.all(SplitSeen)) for rank in run.ranks]
        for number, first in enumerate(splits[0] if splits else ()):
            same = [seen[number] for seen in splits if len(seen) > number and _is_same(seen[number], first)]
            moved = [row for row in range(len(first.parts)) if len({s.parts[row] for s in same} - {-1}) > 1]
            if len(same) == len(run.ranks) and moved:
                yield self._found(run, same, moved)
                return

    def _found(self, run: Run, same: list[SplitSeen], moved: list[int]) -> Diagnosis:
        first, row = same[0], moved[0]
        parts = {rank.info.rank: seen.parts[row] for rank, seen in zip(run.ranks, same, strict=True)}
        other = next(rank for rank, part in parts.items() if part != parts[run.ranks[0].info.rank])
        names = _names(first)
        return self.diagnose(
            headline=f"{len(moved)} of {len(first.parts)} rows are in different parts of the split on different ranks",
            confidence="proven",
            where=first.where,
            label="cuts differently on every rank",
            step=first.step,
            culprit=Culprit(phase="data", rows=len(moved), examples=tuple(f"row {row}" for row in moved[:5])),
            evidence=(
                f"row {row} is in `{names[parts[run.ranks[0].info.rank]]}` on rank {run.ranks[0].info.rank} "
                f"and in `{names[parts[other]]}` on rank {other}",
                *(
                    [f"the first {len(first.parts)} of {first.rows} rows were compared"]
                    if len(first.parts) < first.rows
                    else ()
                ),
                "all ranks train one model, so it has seen rows of every rank's other parts",
            ),
            remedies=(
                Remedy(title="cut alike on all ranks: `random_split(..., generator=torch.Generator().manual_seed(0))`"),
            ),
        )


def _is_same(one: SplitSeen, other: SplitSeen) -> bool:
    return (one.where, one.rows, one.sizes) == (other.where, other.rows, other.sizes)


def _names(split: SplitSeen) -> list[str]:
    """What the parts are called on their line, or their numbers."""
    named = _NAMES.match(split.where.source)
    names = [name.strip() for name in named.group(1).split(",")] if named else []
    return names if len(names) == len(split.sizes) else [f"part {number}" for number in range(len(split.sizes))]
