"""Ranks with unequal numbers of batches: one leaves the loop while the others wait for its gradients."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CollectiveCalls, Location, Run, standing_of
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import GRADIENTS, is_at_odds, parting, ranks_text, whereabouts
from torchmedic.rules.ranks._loops import has_left_loop


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
        call = next(call for call in parted.waiting.values() if call.op == GRADIENTS)
        waiting = sorted(rank for rank, other in parted.waiting.items() if other.op == GRADIENTS)
        steps = {rank.info.rank: rank.info.steps for rank in run.ranks}
        have = "has" if len(waiting) == 1 else "have"
        wait = "waits" if len(waiting) == 1 else "wait"
        exits = _ways_out(run, waiting)
        yield self.diagnose(
            headline=f"{ranks_text(gone)} left after {call.step} steps, {ranks_text(waiting)} {have} more batches",
            confidence="proven",
            ranks=tuple(gone),
            where=call.where,
            label=f"{ranks_text(waiting)} {wait} here for gradients that never come",
            step=call.step,
            also=(
                *(Also(location=at, why="the loop can be left here before its end") for at in exits),
                *(Also(location=at, why=why) for at, why in whereabouts(run, gone)),
            )[:4],
            culprit=Culprit(op="all_reduce", phase="backward"),
            evidence=(
                "every `backward` of `DistributedDataParallel` needs all ranks",
                *(f"rank {rank} has ended normally" for rank in gone if steps.get(rank) and parted.calls[rank] is None),
            ),
            remedies=(
                *(_TOGETHER if exits else ()),
                Remedy(title="give every rank the same number of batches: `DistributedSampler(dataset)`"),
                Remedy(title="or let ranks end at different times: `with Join([model]):` around the loop"),
            ),
        )


def _ways_out(run: Run, waiting: list[int]) -> tuple[Location, ...]:
    """Where the loop in which ranks wait can be left early."""
    standing = (standing_of(part) for part in run.ranks if part.info.rank in waiting)
    return next((seen.ways_out for seen in standing if seen is not None), ())


_TOGETHER = (
    Remedy(
        title="let all ranks leave together: `dist.all_reduce(stop)` the wish to stop before the line that leaves",
        detail="a loss, a clock or a file of one rank is not that of the others",
    ),
)
