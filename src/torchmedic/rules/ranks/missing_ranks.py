"""Ranks that wait in `init_process_group` for others that were never started."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Joining, RankSeen, Run, Standing, standing_of
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import ranks_text


class MissingRanks(Rule):
    """The group is told to be larger than the number of processes that come to it."""

    code = "RNK025"
    name = "missing-ranks"
    symptoms = (Symptom.STUCK,)
    tell_apart = "all processes wait in `init_process_group`, and there are fewer of them than the world size says"
    needs = (Joining, Standing)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        parts = run.ranks or (run,)
        joining = {seen.rank: seen for part in parts for seen in part.all(Joining)}
        world = max((seen.world for seen in joining.values()), default=0)
        if run.first(RankSeen) is not None or len(joining) >= world or not all(map(_waits, parts)):
            return
        here = sorted(joining)
        first = joining[here[0]]
        wait = "waits" if len(here) == 1 else "wait"
        are = "is" if len(here) == 1 else "are"
        yield self.diagnose(
            headline=f"{ranks_text(here)} {wait} for {world - len(here)} more in a group of {world}",
            confidence="likely",
            ranks=tuple(here),
            where=first.where,
            label=f"{ranks_text(here)} {wait} here",
            culprit=Culprit(op="init_process_group"),
            evidence=(f"`world_size` is {world}, and {len(here)} {are} here",),
            remedies=(
                Remedy(title=f"start {world} processes, or make `world_size` the number of those that are started"),
                Remedy(title="on several machines, see that each of them reaches `MASTER_ADDR` and `MASTER_PORT`"),
            ),
        )


def _waits(part: Run) -> bool:
    standing = standing_of(part)
    return standing is not None and standing.call == "init_process_group"
