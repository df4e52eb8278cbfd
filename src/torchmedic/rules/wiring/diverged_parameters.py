"""Parameters that should be the same on all ranks and are not."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import (
    CollectiveCalls,
    Crash,
    Location,
    RankStep,
    Run,
    StateLoaded,
    WeightsWritten,
    WrapperSeen,
    WritesByRank,
)
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import GRADIENTS, calls_of, ranks_text
from torchmedic.rules.wiring._steps import parted_since, steps_of

_ENOUGH = 3


class DivergedParameters(Rule):
    """Norms of parameters, compared after a few steps, differ between ranks."""

    code = "WIR093"
    name = "diverged-parameters"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the norm of a wrapped parameter differs between ranks after a step"
    needs = (RankStep, WrapperSeen)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        if run.first(Crash) is not None:
            return  # ranks that die at different steps differ by then
        idle = _never_updating(run)
        if idle:
            yield self._updates_elsewhere(run, idle)
            return
        found = parted_since(run)
        seen = run.first(WrapperSeen)
        if found is None or seen is None:
            return
        step, equal, (name, low, high) = found
        if name in seen.strangers:
            yield self._came_late(seen, name, step)
            return
        since = f"they were equal after step {equal}" if equal is not None else "they differ since the first step"
        cause = _changed_on_some(run, name, step, equal)
        yield self.diagnose(
            headline=f"`{name}` differs between ranks after step {step}",
            confidence="proven",
            where=cause[0] if cause is not None else seen.built,
            label=cause[1] if cause is not None else "wrapped here, to be the same on all ranks",
            step=step,
            also=(Also(location=seen.built, why="wrapped here, to be the same on all ranks"),)
            if cause is not None and seen.built is not None
            else (),
            culprit=Culprit(parameter=name),
            evidence=(f"its norm lies between {low:.6g} and {high:.6g} on the ranks; {since}", *_rates(run, step)),
            remedies=(
                Remedy(
                    title="change weights on all ranks alike: not under `if rank == …`, not from local random numbers"
                ),
                Remedy(title="change or load weights before `DistributedDataParallel(model)`, which spreads rank 0's"),
            ),
        )

    def _came_late(self, seen: WrapperSeen, name: str, step: int) -> Diagnosis:
        built = seen.strangers[name]
        also = (Also(location=seen.built, why="wrapped here, without it"),) if seen.built is not None else ()
        return self.diagnose(
            headline=f"`{name}` came into the model after it was wrapped: its gradients are not exchanged",
            confidence="proven",
            where=built or seen.built,
            label="built here, unknown to the wrapper" if built is not None else "wrapped here, without it",
            step=step,
            also=also if built is not None else (),
            culprit=Culprit(parameter=name),
            evidence=(
                f"it differs between ranks after step {step}",
                f"parameters that the wrapper does not know: {', '.join(f'`{other}`' for other in seen.strangers)}",
            ),
            remedies=(Remedy(title="change the model first, then wrap it: `DistributedDataParallel(model)` last"),),
        )

    def _updates_elsewhere(self, run: Run, idle: list[int]) -> Diagnosis:
        stepping = next(seen for seen in run.all(RankStep))
        others = [rank.info.rank for rank in run.ranks if rank.info.rank not in idle]
        updates = "updates" if len(idle) == 1 else "update"
        does = "does" if len(others) == 1 else "do"
        return self.diagnose(
            headline=f"{ranks_text(idle)} never {updates} weights, {ranks_text(others)} {does}",
            confidence="proven",
            ranks=tuple(idle),
            where=stepping.stepped_at,
            label=f"reached by {ranks_text(others)} alone",
            step=run.info.steps,
            culprit=Culprit(op="optimizer.step", phase="optimizer"),
            evidence=(
                f"{run.info.steps} steps were made on {ranks_text(others)}, 0 on {ranks_text(idle)}",
                "gradients are averaged over ranks whose weights differ since the first step",
            ),
            remedies=(Remedy(title="call `optimizer.step()` on every rank: averaged gradients keep the copies equal"),),
        )


def _changed_on_some(run: Run, name: str, step: int, equal: int | None) -> tuple[Location, str] | None:
    """The line that loaded or wrote weights on some ranks and not on others, or on each of them other numbers."""
    since = equal or 0
    loads = {
        r.info.rank: [s.where for s in r.all(StateLoaded) if since <= (s.step or 0) < step and s.where]
        for r in run.ranks
    }
    for where, here in _on_some(loads):
        return where, f"loaded on {ranks_text(here)} alone"
    if equal is not None:
        return _written_by_rank(run)
    writes = {r.info.rank: [s.where for s in r.all(WeightsWritten) if name in s.names] for r in run.ranks}
    for where, here in _on_some(writes):
        return where, f"written on {ranks_text(here)} alone"
    common = next((where for seen in writes.values() for where in reversed(seen)), None)
    return (common, "written on every rank, with numbers of its own") if common is not None else None


def _written_by_rank(run: Run) -> tuple[Location, str] | None:
    """The one line of the script that writes weights under an `if` that chooses ranks."""
    places = {place for seen in run.all(WritesByRank) for place in seen.places}
    return (places.pop(), "the one line that writes weights where the rank decides") if len(places) == 1 else None


def _on_some(places: dict[int, list[Location]]) -> Iterator[tuple[Location, list[int]]]:
    """Lines that some ranks were on and others not, and those ranks."""
    for where in dict.fromkeys(at for seen in places.values() for at in seen):
        here = [rank for rank, seen in places.items() if where in seen]
        if len(here) < len(places):
            yield where, here


def _never_updating(run: Run) -> list[int]:
    """Ranks that exchange gradients like the others and make no step, in a run that came to its end."""
    if run.info.steps < _ENOUGH or run.first(Crash) is not None or run.info.stopped_by_us:
        return []
    ended = [rank for rank in run.ranks if rank.info.ended > 0 and rank.first(WrapperSeen) is not None]
    exchanging = [rank for rank in ended if rank.first(CollectiveCalls) is not None]
    idle = [
        rank.info.rank
        for rank in exchanging
        if rank.info.steps == 0 and any(call.op == GRADIENTS for call in calls_of(rank).values())
    ]
    return idle if len(idle) < len(run.ranks) else []


def _rates(run: Run, step: int) -> Iterator[str]:
    """The learning rate where it is another one on each rank."""
    rates = {rank: seen.rate for rank, seen in steps_of(run)[step].items() if seen.rate is not None}
    if len(set(rates.values())) > 1:
        told = ", ".join(f"{rate:.3g} on rank {rank}" for rank, rate in list(rates.items())[:4])
        yield f"the learning rate differs: {told}"
