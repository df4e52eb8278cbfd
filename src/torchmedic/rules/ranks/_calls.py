"""What the ranks' last collectives tell when they are laid side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import (
    ChildDeath,
    CollectiveCall,
    CollectiveCalls,
    Crash,
    Interrupted,
    Location,
    PeerLost,
    RankEnded,
    RankSeen,
    Run,
    Standing,
    standing_of,
)

GRADIENTS = "gradients"
BUFFERS = "buffers"
_OF_EQUAL_SIZE = ("all_reduce", "broadcast", "reduce", "gather")
_ALMOST = 2.0  # seconds: a Ctrl-C reaches all processes at once, and they take their time to end
_NAMES = {
    GRADIENTS: "the gradient all-reduce of `backward`",
    BUFFERS: "the broadcast of buffers in the `forward` of `DistributedDataParallel`",
}


@dataclass(frozen=True)
class Parting:
    """The first collective on which ranks do not agree: what each rank calls there, None where it calls nothing."""

    number: int
    calls: dict[int, CollectiveCall | None]

    @property
    def waiting(self) -> dict[int, CollectiveCall]:
        return {rank: call for rank, call in self.calls.items() if call is not None}

    @property
    def absent(self) -> list[int]:
        return [rank for rank, call in self.calls.items() if call is None]


def calls_of(run: Run) -> dict[int, CollectiveCall]:
    seen = run.first(CollectiveCalls)
    return {call.number: call for call in seen.calls} if seen is not None else {}


def is_at_odds(run: Run) -> bool:
    """Whether ranks wait for each other, or gave up waiting: a call was begun that never came back.

    A rank that died or failed by itself explains the wait of the others; then there is nothing to compare.
    """
    if not run.ranks or (run.info.stopped_by_us and not any(standing_of(rank) for rank in run.ranks)):
        return False
    for rank in run.ranks:
        ended = rank.first(RankEnded)
        if rank.first(Crash) is not None or (ended is not None and ended.signal not in ("", "SIGABRT", "SIGTERM")):
            return False
        if left_with_status(rank) is not None and not any(standing_of(part) for part in run.ranks):
            return False
        death = rank.first(ChildDeath)
        if death is not None and death.name != "SIGABRT":
            return False
    return any(not call.done for rank in run.ranks for call in calls_of(rank).values()) and _has_stopped(run)


def left_with_status(rank: Run) -> RankEnded | None:
    """The end of a rank that had joined the others and left with a status of its own, without an exception."""
    ended = rank.first(RankEnded)
    if ended is None or not ended.status or ended.status < 0 or rank.first(RankSeen) is None:
        return None
    return None if rank.first(PeerLost) is not None or rank.info.stopped_by_us else ended


def _has_stopped(run: Run) -> bool:
    """The end of the world as one rank sees it: it stands still, it timed out, or another has aborted."""
    kinds = (PeerLost, RankEnded, ChildDeath)
    stuck = any((s := standing_of(rank)) is not None and s.patience > 0 for rank in run.ranks)
    return stuck or any(rank.first(kind) is not None for rank in run.ranks for kind in kinds)


def parting(run: Run) -> Parting | None:
    """Where the ranks part, by the numbers of their calls."""
    by_rank = {rank.info.rank: calls_of(rank) for rank in run.ranks}
    if not by_rank or not any(by_rank.values()):
        return None
    oldest = max(min(calls, default=1) for calls in by_rank.values())
    newest = max(max(calls, default=0) for calls in by_rank.values())
    for number in range(oldest, newest + 1):
        here = {rank: calls.get(number) for rank, calls in by_rank.items()}
        forms = {(call.op, call.form) if call is not None else None for call in here.values()}
        if len(forms) > 1:
            return Parting(number, here)
    return None


def unequal_call(run: Run) -> Parting | None:
    """A call at one line that all ranks came back from, with tensors of different sizes; of ranks that ended well.

    Only calls are compared of which all ranks made as many, one like the other: their numbers mean the same call then.
    """
    by_rank = {rank.info.rank: calls_of(rank) for rank in run.ranks}
    well = all(rank.info.ended > 0 and not rank.info.exit_code and not _was_ended(rank) for rank in run.ranks)
    if not well or len(by_rank) < 2 or len({max(calls, default=0) for calls in by_rank.values()}) > 1:
        return None
    shared = sorted(set.intersection(*(set(calls) for calls in by_rank.values())))
    rows = [Parting(number, {rank: calls[number] for rank, calls in by_rank.items()}) for number in shared]
    if any(len({call.op for call in row.waiting.values()}) > 1 or not _all_done(row) for row in rows):
        return None
    return next((row for row in rows if _is_unequal(row)), None)


def _all_done(row: Parting) -> bool:
    return all(call.done for call in row.waiting.values())


def _is_unequal(row: Parting) -> bool:
    calls = list(row.waiting.values())
    is_one_line = all(_same_line(call.where, calls[0].where) for call in calls)
    return calls[0].op in _OF_EQUAL_SIZE and is_one_line and len({_size(call.form) for call in calls}) > 1


def _size(form: str) -> tuple[str, int]:
    """The type of a tensor and the number of its values: shapes may differ where these agree.

    >>> _size("float32[2, 3]") == _size("float32[6] with rank 0 as root"), _size("int64[]")
    (True, ('int64', 1))
    """
    dtype, _, shape = form.partition(" with ")[0].partition("[")
    return dtype, math.prod(int(word) for word in shape.rstrip("]").split(",") if word.strip())


def known_only_to(run: Run, place: Location | None) -> list[int]:
    """The ranks that have called a collective at this line, or met one that another called there.

    An `if` that chooses ranks may have the same call on both of its sides.
    """
    by_rank = {rank.info.rank: calls_of(rank) for rank in run.ranks}
    here = {number for calls in by_rank.values() for number, call in calls.items() if _same_line(call.where, place)}
    last = parted.number if (parted := parting(run)) is not None else math.inf
    return [
        rank
        for rank, calls in by_rank.items()
        if any(number in here and (number < last or _same_line(call.where, place)) for number, call in calls.items())
    ]


def _same_line(one: Location | None, other: Location | None) -> bool:
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)


def called(call: CollectiveCall) -> str:
    """A call in words."""
    if call.op == "redistribute":
        return f"the exchange of parts of a spread `{call.form}`"
    return _NAMES.get(call.op, f"`{call.op}`" + (f" of `{call.form}`" if call.form else ""))


def ranks_text(ranks: list[int]) -> str:
    """
    >>> ranks_text([1]), ranks_text([0, 2, 3])
    ('rank 1', 'ranks 0, 2 and 3')
    """
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def whereabouts(run: Run, ranks: list[int]) -> Iterator[tuple[Location, str]]:
    """Where some ranks stand, or stood when they gave up, and what they do there; once for all on the same line."""
    together: dict[tuple[Location, str, str], list[int]] = {}  # by line, call, and other doings
    for part in [part for part in run.ranks if part.info.rank in ranks]:
        standing = standing_of(part)
        open_call = next((c for c in calls_of(part).values() if not c.done), None)
        if open_call is not None and open_call.where is not None:
            together.setdefault((open_call.where, called(open_call), ""), []).append(part.info.rank)
        elif standing is not None and standing.where is not None:
            together.setdefault((standing.where, "", _doing(standing)), []).append(part.info.rank)
    for (where, call, doing), here in together.items():
        wait = "waits" if len(here) == 1 else "wait"
        are = "is" if len(here) == 1 else "are"
        yield where, f"{ranks_text(here)} {wait} here in {call}" if call else f"{ranks_text(here)} {are} here{doing}"


def _doing(standing: Standing) -> str:
    words = {
        "loader": ", waiting for a batch",
        "lock": ", waiting for a lock",
        "file-lock": ", waiting for a lock on a file",
        "lock-file": ", waiting for a lock file",
        "sleep": ", asleep",
        "process": ", waiting for another process",
        "collective": f", in `{standing.call}`",
    }
    return words.get(standing.waits_for, "")


def has_finished(run: Run, rank: int) -> bool:
    """Whether a rank came to its end by itself: not seen to stand still, not dead, not interrupted with the others."""
    parts = [part for part in run.ranks if part.info.rank == rank and part.info.ended > 0]
    until = min((seen.at for seen in run.all(Interrupted)), default=math.inf) - _ALMOST
    return any(part.info.ended < until and not _was_ended(part) for part in parts)


def _was_ended(part: Run) -> bool:
    ended = part.first(RankEnded)
    failed = ended is not None and bool(ended.status or ended.signal)
    return failed or standing_of(part) is not None or part.first(Crash) is not None
