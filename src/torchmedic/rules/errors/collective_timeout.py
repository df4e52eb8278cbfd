"""A collective that some rank waited for in vain, as its watchdog told it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line

_LATE = r"Watchdog caught collective operation timeout"
_RANK = re.compile(r"\[Rank (\d+)\]")
_OPERATION = re.compile(r"OpType=(\w+)")
_NUMBER = re.compile(r"SeqNum=(\d+)")
_LIMIT = re.compile(r"Timeout\(ms\)=(\d+)")


class CollectiveTimeout(Rule):
    """The rank that speaks is not the one at fault: it waited for another."""

    code = "ERR274"
    name = "collective-timeout"
    symptoms = (Symptom.CRASH, Symptom.STUCK)
    tell_apart = (
        "`Watchdog caught collective operation timeout`: one rank waited for the others until its patience ended"
    )
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or said(crash, _LATE) is None:
            return
        rank, operation = _RANK.search(crash.message), _OPERATION.search(crash.message)
        who = f"rank {rank[1]}" if rank is not None else "a rank"
        what = f"`{operation[1].lower()}`" if operation is not None else "a collective"
        yield self.diagnose(
            headline=f"{who} waited in {what} for ranks that did not come",
            confidence="likely",
            where=user_line(crash),
            culprit=Culprit(op=operation[1].lower() if operation is not None else None),
            evidence=tuple(_evidence(crash.message)),
            remedies=(
                Remedy(title="read what the other ranks wrote last: one has died, stands still, or took another way"),
                Remedy(
                    title="look for a collective, a `backward` or a save under `if rank == 0`, and for unequal batches"
                ),
                Remedy(title="run it under `torchmedic run` on all ranks, or ask a live one: `torchmedic where PID`"),
            ),
        )


def _evidence(message: str) -> Iterator[str]:
    number, limit = _NUMBER.search(message), _LIMIT.search(message)
    if number is not None:
        yield f"it was collective {number[1]} of that rank: compare with the last number that the others tell"
    if limit is not None:
        yield f"it waited {int(limit[1]) // 1000} s, the limit that `init_process_group(timeout=…)` sets"
