"""A rank that was killed, which the others notice as a lost connection."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CollectiveCall, RankEnded, Run
from torchmedic.findings import Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import called, calls_of, is_at_odds, parting

_MEANING = {
    "SIGKILL": "from outside; the system does so when memory runs out",
    "SIGSEGV": "a fault in native code",
    "SIGBUS": "shared memory ran out, or a file it had mapped is gone",
    "SIGABRT": "native code gave up",
}


class KilledRank(Rule):
    """The process that started the ranks says which one died first, and of which signal."""

    code = "RNK008"
    name = "killed-rank"
    symptoms = (Symptom.DEATH, Symptom.CRASH)
    tell_apart = "one rank ended by a signal; the others lost their connection to it or were stopped"
    needs = (RankEnded,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        killed = [(r, e) for r in run.ranks for e in r.all(RankEnded) if e.signal not in ("", "SIGTERM", "SIGINT")]
        if not killed or run.info.stopped_by_us or (is_at_odds(run) and _explained_by_calls(run)):
            return
        rank, ended = killed[0]
        last = max(calls_of(rank).values(), key=lambda call: call.number, default=None)
        meaning = _MEANING.get(ended.signal, "")
        yield self.diagnose(
            headline=f"rank {ended.rank} of {run.info.world} died of {ended.signal}{meaning and f' ({meaning})'}",
            confidence="proven",
            ranks=(ended.rank,),
            where=last.where if last is not None else ended.last_seen,
            label=f"the last collective of rank {ended.rank}" if last is not None else "where it was last seen",
            step=last.step if last is not None else None,
            evidence=tuple(_evidence(last)),
            remedies=(
                Remedy(title="look at the machine's log (`dmesg`, the scheduler's) for who killed it")
                if ended.signal == "SIGKILL"
                else Remedy(title="read the stack in the rank's `fault.log` in the run folder"),
                Remedy(title="watch the memory of that machine: fewer workers, smaller batches, less pinned memory"),
            ),
        )


def _explained_by_calls(run: Run) -> bool:
    parted = parting(run)
    return parted is not None and len(parted.waiting) > 1


def _evidence(last: CollectiveCall | None) -> Iterator[str]:
    if last is not None:
        ended = "which it had left" if last.done else "in which it was"
        yield f"its last collective was {called(last)} after step {last.step}, {ended}"
