"""Ranks with unequal numbers of batches: one leaves the loop while the others wait for its gradients."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CollectiveCalls, Location, Run, standing_of
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import (
    GRADIENTS,
    Parting,
    calls_of,
    has_finished,
    is_at_odds,
    parting,
    ranks_text,
    whereabouts,
)
from torchmedic.rules.ranks._loops import has_left_loop, trains
from torchmedic.rules.ranks._nesting import loop_head


class UnequalBatches(Rule):
    """Some ranks wait in the gradient all-reduce; the others are past the loop, or have ended."""

    code = "RNK007"
    name = "unequal-batches"
    symptoms = (Symptom.STUCK, Symptom.CRASH)
    tell_apart = "ranks wait for gradients of a rank that has left the training loop or has ended"
    needs = (CollectiveCalls,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        parted = parting(run) if is_at_odds(run) else None
        gone = has_left_loop(run, parted) if parted is not None else []
        if parted is None or not gone:
            return
        call = next(call for call in parted.waiting.values() if trains(call))
        waiting = sorted(rank for rank, other in parted.waiting.items() if trains(other))
        batches = _batches(run)
        skipped = _has_skipped(batches, gone, waiting)
        have = "has" if len(waiting) == 1 else "have"
        wait = "waits" if len(waiting) == 1 else "wait"
        are = "is" if len(waiting) == 1 else "are"
        exits = _ways_out(run, waiting)
        heads = [at for at in (loop_head(call.nests),) if at is not None]
        way = exits[0] if len(exits) == 1 and _has_ended_passes(parted, gone, call.passes) else None
        yield self.diagnose(
            headline=f"{ranks_text(gone)} left the loop after {call.step} steps, and {ranks_text(waiting)} did not"
            if way is not None
            else f"{ranks_text(gone)} left after {call.step} steps, having skipped batches that came to it"
            if skipped
            else f"{ranks_text(gone)} left after {call.step} steps, {ranks_text(waiting)} {have} more batches",
            confidence="proven",
            ranks=tuple(gone),
            where=way or call.where,
            label=f"{ranks_text(gone)} left the loop here"
            if way is not None
            else f"{ranks_text(waiting)} {wait} here for gradients that never come"
            if call.op == GRADIENTS
            else f"{ranks_text(waiting)} {wait} here for buffers that never come",
            step=call.step,
            also=(
                *(Also(location=at, why="the loop can be left here before its end") for at in exits if at != way),
                *(Also(location=at, why=f"{ranks_text(waiting)} {wait} here") for at in (call.where,) if way and at),
                *(Also(location=at, why=f"{ranks_text(waiting)} {are} in this loop") for at in heads),
                *(Also(location=at, why=why) for at, why in whereabouts(run, gone)),
            )[:4],
            culprit=Culprit(op="all_reduce", phase="backward"),
            evidence=(
                "every `backward` of `DistributedDataParallel` needs all ranks",
                *_numbers(parted, batches),
                *(
                    f"rank {rank} has ended normally"
                    for rank in gone
                    if parted.calls[rank] is None and has_finished(run, rank)
                ),
            ),
            remedies=_ALL_SKIP
            if skipped
            else (
                *(_TOGETHER if exits else ()),
                Remedy(title="give every rank the same number of batches: `DistributedSampler(dataset)`"),
                Remedy(title="or let ranks end at different times: `with Join([model]):` around the loop"),
            ),
        )


def _ways_out(run: Run, waiting: list[int]) -> tuple[Location, ...]:
    """Where the loop in which ranks wait can be left early."""
    standing = (standing_of(part) for part in run.ranks if part.info.rank in waiting)
    return next((seen.ways_out for seen in standing if seen is not None), ())


def _has_ended_passes(parted: Parting, gone: list[int], passes: int) -> bool:
    """The ranks that left came to the end of a pass over their data and began no other, as those that wait did."""
    left = [parted.calls[rank] for rank in gone]
    return all(call is not None and 0 < call.passes < passes for call in left)


def _batches(run: Run) -> dict[int, int]:
    """How many batches for training each rank had received at its last collective; 0 where no loader gave them."""
    return {part.info.rank: max((c.batches for c in calls_of(part).values()), default=0) for part in run.ranks}


def _has_skipped(batches: dict[int, int], gone: list[int], waiting: list[int]) -> bool:
    """The ranks that left have received as many as those that wait, so they did not run out of them."""
    return all(batches[rank] >= max(batches[other] for other in waiting) > 0 for rank in gone)


def _numbers(parted: Parting, batches: dict[int, int]) -> Iterator[str]:
    for rank, call in sorted(parted.waiting.items())[:4]:
        if batches[rank]:
            yield f"rank {rank} has received {batches[rank]} batches and made {call.step} steps"


_ALL_SKIP = (
    Remedy(
        title="skip on all ranks or on none: `dist.all_reduce` the wish to skip before the `continue` or the `except`",
        detail="every rank has to make the same number of backward passes",
    ),
    Remedy(title="or let the rank go through backward with a loss of `0.0 * loss`"),
)
_TOGETHER = (
    Remedy(
        title="let all ranks leave together: `dist.all_reduce(stop)` the wish to stop before the line that leaves",
        detail="a loss, a clock or a file of one rank is not that of the others",
    ),
)
