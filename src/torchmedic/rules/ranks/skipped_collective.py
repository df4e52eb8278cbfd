"""A collective that some ranks call and others never do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import CollectiveCall, CollectiveCalls, Run, standing_of
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import (
    BUFFERS,
    GRADIENTS,
    Parting,
    called,
    has_finished,
    is_at_odds,
    known_only_to,
    parting,
    ranks_text,
    whereabouts,
)
from torchmedic.rules.ranks._loops import has_left_loop
from torchmedic.rules.ranks._nesting import choosing_if, comes_first, is_chosen

_CHOOSES = re.compile(r"rank|is_main|is_master|main_process|global_zero")


class SkippedCollective(Rule):
    """The ranks' calls are the same up to one that stands on a line which only some of them ever reach."""

    code = "RNK005"
    name = "skipped-collective"
    symptoms = (Symptom.STUCK, Symptom.CRASH)
    tell_apart = (
        "one line with a collective was reached by some ranks only; the others are in another call or elsewhere"
    )
    needs = (CollectiveCalls,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        parted = parting(run) if is_at_odds(run) else None
        if parted is None or has_left_loop(run, parted):
            return
        call = first_skipped(run, parted)
        if call is None:
            return
        callers = [rank for rank, other in parted.waiting.items() if other is not None and other.where == call.where]
        others = [rank for rank in parted.calls if rank not in callers]
        if not all(_has_passed(run, parted, rank) for rank in others):
            return
        wait = "waits" if len(callers) == 1 else "wait"
        calls = "calls" if len(others) == 1 else "call"
        yield self.diagnose(
            headline=f"{ranks_text(callers)} {wait} in {called(call)}, which {ranks_text(others)} never {calls}",
            confidence="proven",
            ranks=tuple(callers),
            where=call.where,
            label=f"reached by {ranks_text(callers)} alone",
            step=call.step,
            also=(
                *_choice(call, parted.calls[others[0]], callers),
                *(Also(location=at, why=why) for at, why in whereabouts(run, others)),
            )[:4],
            culprit=Culprit(op=call.op),
            evidence=tuple(_evidence(run, parted, others)),
            remedies=_remedies(call, parted.calls[others[0]]),
        )


def first_skipped(run: Run, parted: Parting) -> CollectiveCall | None:
    """The first collective, in the order of the program, that some ranks call and others do not; None if unclear."""
    lonely = {call.where: call for call in _lonely(run, parted)}
    if len(lonely) < 2:
        return next(iter(lonely.values()), None)
    # The forward of a model on some ranks alone: nobody means that as a call.
    spread = [call for call in lonely.values() if call.op == BUFFERS]
    if len(spread) == 1:
        return spread[0]
    for call in lonely.values():
        rest = [other for other in lonely.values() if other is not call]
        if all(comes_first(call.nests, other.nests) for other in rest):
            return call
    return None


def _choice(call: CollectiveCall, instead: CollectiveCall | None, callers: list[int]) -> tuple[Also, ...]:
    """The `if` that sent some ranks to the call, and others past it."""
    at = choosing_if(call.nests, instead.nests) if instead is not None else None
    if at is None or not _CHOOSES.search(at.source):
        return ()  # all may have gone through it, and parted behind it
    return (Also(location=at, why=f"only {ranks_text(callers)} went through this `if`"),)


def _remedies(call: CollectiveCall, instead: CollectiveCall | None) -> tuple[Remedy, ...]:
    if call.op == BUFFERS:
        return (
            Remedy(title="evaluate with the inner model on one rank: `model.module(x)` exchanges nothing"),
            Remedy(title="or evaluate on all ranks, each its share"),
        )
    if call.op == "redistribute":
        return (
            Remedy(title="let every rank make this call: what is spread over ranks is put together by all of them"),
            Remedy(title="choose ranks for what is done with the result, not for the call"),
        )
    if call.op == "full_tensor":
        return (Remedy(title="call `full_tensor` on every rank, and let one of them keep what it returns"),)
    if call.nests and not is_chosen(call.nests, instead.nests if instead is not None else ()):
        return (
            Remedy(title=f"let every rank reach {called(call)}: no `return`, `continue` or `except` may pass it by"),
        )
    return (
        Remedy(title=f"let every rank reach {called(call)}: move it out of the `if` that chooses ranks"),
        Remedy(title="or give it a `group` that holds only the ranks that call it"),
    )


def _lonely(run: Run, parted: Parting) -> Iterator[CollectiveCall]:
    """Calls at the parting whose line the ranks that are not there have never reached."""
    for call in parted.waiting.values():
        callers = {rank for rank, other in parted.waiting.items() if other.where == call.where}
        if call.op != GRADIENTS and set(known_only_to(run, call.where)) <= callers and len(callers) < len(parted.calls):
            yield call


def _has_passed(run: Run, parted: Parting, rank: int) -> bool:
    """Whether a rank is in another collective or at its end: one that is elsewhere may come yet."""
    part = next(part for part in run.ranks if part.info.rank == rank)
    standing = standing_of(part)
    is_in_one = standing is not None and standing.waits_for in ("collective", "gradients")
    return parted.calls[rank] is not None or is_in_one or has_finished(run, rank)


def _evidence(run: Run, parted: Parting, others: list[int]) -> Iterator[str]:
    yield (
        f"the first {parted.number - 1} collectives of all ranks agree"
        if parted.number > 1
        else ("it is the first collective")
    )
    for rank in others[:4]:
        call = parted.calls[rank]
        if call is not None:
            yield f"rank {rank} is in {called(call)} at {call.where} instead"
        elif has_finished(run, rank):
            yield f"rank {rank} has ended"
