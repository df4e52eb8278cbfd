"""A rank that was killed, or ended by itself, which the others notice as a lost connection."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AbruptExit, CollectiveCall, Crash, LastSeen, RankEnded, Run
from torchmedic.findings import Also, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import called, calls_of, is_at_odds, left_with_status, parting, ranks_text

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
    tell_apart = "one rank ended by a signal or a status, without an exception; the others lost it or were stopped"
    needs = (RankEnded,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        killed = [(r, e) for r in run.ranks for e in r.all(RankEnded) if e.signal not in ("", "SIGTERM", "SIGINT")]
        if run.info.stopped_by_us or (is_at_odds(run) and _explained_by_calls(run)):
            return
        if not killed:
            yield from self._left(run)
            return
        rank, ended = min(killed, key=lambda pair: pair[1].at)
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

    def _left(self, run: Run) -> Iterator[Diagnosis]:
        """No signal and no exception: the rank said to the system that it failed, and to nobody else."""
        gone = [(rank, ended) for rank in run.ranks if (ended := left_with_status(rank)) is not None]
        if not gone or any(rank.first(Crash) is not None for rank in run.ranks):
            return
        rank, ended = gone[0]
        last = max(calls_of(rank).values(), key=lambda call: call.number, default=None)
        left = next((left for left in rank.all(AbruptExit) if left.status == ended.status), None)
        seen = rank.first(LastSeen)
        where = left.where if left is not None else seen.where if seen is not None else last.where if last else None
        others = [part.info.rank for part in run.ranks if part is not rank]
        were = "was" if len(others) == 1 else "were"
        lost = (f"{ranks_text(others)} lost the connection to it, or {were} stopped, in consequence",) if others else ()
        yield self.diagnose(
            headline=f"rank {ended.rank} of {run.info.world} ended with status {ended.status}, without an exception",
            confidence="proven",
            ranks=(ended.rank,),
            where=where,
            label=f"rank {ended.rank} left the process here" if left is not None else "where it was last seen",
            step=last.step if last is not None else None,
            also=(Also(location=last.where, why=f"the last collective of rank {ended.rank}"),)
            if last is not None and last.where is not None and last.where != where
            else (),
            evidence=(*_evidence(last), *lost),
            remedies=(
                Remedy(title="raise an exception instead of leaving with a status: it names its line and its reason"),
                Remedy(title="where nothing of yours leaves so, a native library does: look at what it printed before"),
            ),
        )


def _explained_by_calls(run: Run) -> bool:
    parted = parting(run)
    return parted is not None and len(parted.waiting) > 1


def _evidence(last: CollectiveCall | None) -> Iterator[str]:
    if last is not None:
        ended = "which it had left" if last.done else "in which it was"
        yield f"its last collective was {called(last)} after step {last.step}, {ended}"
