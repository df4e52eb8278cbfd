"""One rank stands still by itself, and all others wait for it in a collective."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchmedic.facts import (
    CollectiveCall,
    CollectiveCalls,
    Interrupted,
    LastSeen,
    PeerLost,
    Run,
    Standing,
    ThreadDied,
    standing_of,
)
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import Parting, called, has_finished, is_at_odds, parting, ranks_text
from torchmedic.rules.ranks._standing import innermost, own_line, taken_elsewhere

_WAITS = {
    "loader": "waits for a batch of its DataLoader",
    "lock": "waits for a lock",
    "file-lock": "waits for a lock on a file",
    "lock-file": "waits for a lock file to be free",
    "sleep": "sleeps",
    "process": "waits for another process",
    "pipe": "waits for a child process that is blocked writing to a pipe",
    "network": "waits for the network",
    "reader": "waits for somebody to read its queue",
}


class HeldUpRank(Rule):
    """A rank that has not come to the collective of the others, and stands on a line where it calls none."""

    code = "RNK017"
    name = "held-up-rank"
    symptoms = (Symptom.STUCK, Symptom.CRASH)
    tell_apart = "all ranks but one wait in a collective, or gave up; that one stands still or is busy elsewhere"
    needs = (CollectiveCalls,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        parted = parting(run) if is_at_odds(run) else None
        if parted is None or not parted.waiting:
            return
        yield from self._given_up(run, parted)
        yield from self._interrupted(run, parted)
        for part in run.ranks:
            standing = standing_of(part)
            if standing is None or part.info.rank not in parted.absent or standing.waits_for == "collective":
                continue
            is_endless = 0 < standing.too_busy <= standing.busy
            if is_endless or standing.still:
                yield self._held_up(run, part, standing, parted)
                return

    def _held_up(self, run: Run, part: Run, standing: Standing, parted: Parting) -> Diagnosis:
        waiting = sorted(parted.waiting)
        of_worker = next((at for w in standing.workers if (at := own_line(w.stack)) is not None), None)
        is_endless = 0 < standing.too_busy <= standing.busy
        died = _dead_thread(part, standing)
        doing = (
            "goes round in one function"
            if is_endless
            else f"waits for a thread that died of {died.type_name}"
            if died is not None
            else _WAITS.get(standing.waits_for, "stands still")
        )
        wait = "waits" if len(waiting) == 1 else "wait"
        return self.diagnose(
            headline=f"rank {part.info.rank} {doing}, and {ranks_text(waiting)} {wait} for it",
            confidence="likely" if is_endless or died is not None else "proven",
            ranks=(part.info.rank,),
            where=died.where if died is not None else of_worker or standing.where,
            label=f"rank {part.info.rank} goes round here"
            if is_endless
            else f"its thread `{died.name}` died here: `{died.message}`"
            if died is not None
            else f"rank {part.info.rank} stands here"
            if of_worker is None
            else f"a worker of rank {part.info.rank} stands here",
            step=standing.step,
            also=(
                *_stands(part, standing, died),
                *_waited(parted.waiting[waiting[0]], waiting),
                *taken_elsewhere(standing),
                *_taken(standing),
            ),
            culprit=Culprit(op=standing.call or None, phase="data" if standing.waits_for == "loader" else None),
            evidence=(*_evidence(standing), *_held_by(run, standing)),
            remedies=(_way_out(standing, is_endless, died), _SOONER),
        )

    def _interrupted(self, run: Run, parted: Parting) -> Iterator[Diagnosis]:
        """Somebody lost patience with a rank that was at work while the others waited for it."""
        waiting = [part for part in run.ranks if (s := standing_of(part)) is not None and s.patience > 0]
        late = [part for part in run.ranks if part.info.rank in parted.absent and standing_of(part) is None]
        seen = late[0].first(Interrupted) if late else None
        if seen is None or seen.where is None or not waiting:
            return
        number, others = late[0].info.rank, [part.info.rank for part in waiting]
        call = parted.calls[others[0]]
        yield self.diagnose(
            headline=f"rank {number} was at work when the run was interrupted, and {ranks_text(others)} waited for it",
            confidence="possible",
            ranks=(number,),
            where=seen.where,
            label=f"rank {number} was here",
            step=seen.step,
            also=(Also(location=call.where, why=f"{ranks_text(others)} waited here"),)
            if call is not None and call.where is not None
            else (),
            culprit=Culprit(op=seen.where.function),
            remedies=(
                Remedy(title="see whether this line ever comes to an end: a loop on it may have none"),
                Remedy(title="or share the work: what one rank does alone, all others wait for"),
            ),
        )

    def _given_up(self, run: Run, parted: Parting) -> Iterator[Diagnosis]:
        """The time that a collective may take ran out, and one rank was on its way to it."""
        tired = [(part.info.rank, lost) for part in run.ranks for lost in part.all(PeerLost) if lost.timed_out]
        late = [part for part in run.ranks if part.info.rank in parted.absent and part.first(LastSeen) is not None]
        if not tired or not late or any(standing_of(part) is not None for part in late):
            return
        rank, lost = tired[0]
        number, seen = late[0].info.rank, late[0].first(LastSeen)
        call = parted.calls[rank]
        if seen is None or call is None or has_finished(run, number):
            return
        yield self.diagnose(
            headline=f"rank {rank} gave up waiting in {called(call)} for rank {number}, which was busy elsewhere",
            confidence="proven",
            ranks=(number,),
            where=seen.where,
            label=f"rank {number} was here",
            step=call.step,
            also=(Also(location=call.where, why=f"rank {rank} waited here"),) if call.where is not None else (),
            culprit=Culprit(op=call.op),
            evidence=(f"collectives of this group may take {lost.limit:g} s",) if lost.limit else (),
            remedies=(
                Remedy(title="let collectives wait longer: `init_process_group(..., timeout=timedelta(hours=2))`"),
                Remedy(title="or share the work: what one rank does alone, all others wait for"),
            ),
        )


def _waited(call: CollectiveCall, waiting: list[int]) -> tuple[Also, ...]:
    """Where the others wait."""
    wait = "waits" if len(waiting) == 1 else "wait"
    why = f"{ranks_text(waiting)} {wait} here in {called(call)}"
    return (Also(location=call.where, why=why),) if call.where is not None else ()


def _dead_thread(part: Run, standing: Standing) -> ThreadDied | None:
    """The thread that was to give what a rank waits for, where it died and no other of the script's is left."""
    others = [t for t in standing.threads if not t.is_main and own_line(t.stack) is not None]
    died = part.last(ThreadDied) if standing.waits_for == "lock" and standing.taken_at is None and not others else None
    return died if died is not None and died.where is not None else None


def _stands(part: Run, standing: Standing, died: ThreadDied | None) -> tuple[Also, ...]:
    """Where a rank stands whose thread died elsewhere."""
    if died is None or standing.where is None:
        return ()
    return (Also(location=standing.where, why=f"rank {part.info.rank} waits here for what the thread was to give"),)


def _taken(standing: Standing) -> tuple[Also, ...]:
    """Where the lock was taken that a rank waits for."""
    if standing.waits_for != "lock" or standing.taken_at is None:
        return ()
    return (Also(location=standing.taken_at, why=f"thread `{standing.taken_by}` of it took the lock here"),)


def _way_out(standing: Standing, is_endless: bool, died: ThreadDied | None) -> Remedy:
    if died is not None:
        return Remedy(title="mend the line that the thread died on, and let it hand its end on to the reader")
    if is_endless:
        return Remedy(title="give the loop an end: a limit to its rounds, and an exception when it is reached")
    if standing.waits_for == "lock-file":
        return Remedy(title="remove the lock file if who made it is gone: a run that was killed leaves its own behind")
    if standing.waits_for == "file-lock":
        return Remedy(title="give the lock back before any collective: others may need it to get there")
    if taken_elsewhere(standing):
        return Remedy(title="make the lock inside the worker (in `worker_init_fn` or at the first `__getitem__`)")
    return Remedy(title="free the rank that stands still: its line tells what it waits for")


_SOONER = Remedy(title="let the group fail sooner: `init_process_group(..., timeout=timedelta(minutes=2))`")


def _held_by(run: Run, standing: Standing) -> Iterator[str]:
    """Who has the lock on a file that a rank waits for."""
    if standing.waits_for == "lock-file" and standing.file:
        yield f"it asks for `{standing.file}` again and again"
    if standing.waits_for != "file-lock":
        return
    file = f"`{os.path.basename(standing.file)}`" if standing.file else "the file"
    owner = next((part.info.rank for part in run.ranks if part.info.pid == (standing.holder or -1)), None)
    if standing.holder == standing.pid:
        yield f"the lock on {file} is held by this very rank, by another handle of the file"
    elif owner is not None:
        yield f"the lock on {file} is held by rank {owner}, which keeps it while it waits for the others"
    elif standing.holder is not None:
        yield f"the lock on {file} is held by process {standing.holder} (`{standing.holder_name}`)"


def _evidence(standing: Standing) -> Iterator[str]:
    main = next((t.stack for t in standing.threads if t.is_main), ())
    yield f"its innermost call is {innermost(main)}"
    for worker in [worker for worker in standing.workers if worker.stack][:2]:
        yield f"a worker of it stands in {innermost(worker.stack)}"
