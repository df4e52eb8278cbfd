"""Every rank sees the same batches, so that several ranks do the work of one."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, Location, RandomDraws, RankStep, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import steps_of

_ENOUGH = 3


class SameBatchOnAllRanks(Rule):
    """The inputs of the wrapped model are equal on all ranks, step after step, while they change between steps."""

    code = "WIR096"
    name = "same-batch-on-all-ranks"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.SLOW_STEP)
    tell_apart = "the fingerprint of the batch is the same on all ranks and differs from step to step"
    needs = (RankStep,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        compared = [by_rank for by_rank in steps_of(run).values() if all(s.batch for s in by_rank.values())]
        batches = [{s.batch for s in by_rank.values()} for by_rank in compared]
        if len(batches) < _ENOUGH or any(len(b) > 1 for b in batches) or len(set.union(*batches)) < len(batches):
            return
        first = next(iter(compared[0].values()))
        seeds = {s.seed for s in compared[0].values()}
        shares = _shares(run)
        loader = _loader(run)
        by_seed = loader is None or len(shares) == len(run.ranks)
        seeded = _seeded(run) if by_seed and len(seeds) == 1 else None
        yield self.diagnose(
            headline=f"all {len(run.ranks)} ranks train on the same batches: {len(batches)} of {len(batches)} compared",
            confidence="proven",
            where=seeded or loader or first.called_at,
            label=_label(loader, seeded, len(shares)),
            step=first.step,
            culprit=Culprit(phase="data"),
            evidence=tuple(_evidence(run, shares, same_seed=len(seeds) == 1 and by_seed)),
            remedies=_BY_SEED if by_seed else _ONE_SHARE if shares else _NO_SHARES,
        )


def _seeded(run: Run) -> Location | None:
    """Where the seed was set, of rows that the script draws by itself."""
    return next((at for seen in run.all(RandomDraws) if (at := seen.seeded.get("torch")) is not None), None)


def _shares(run: Run) -> set[tuple[int, int]]:
    """The parts of the rows that samplers of the ranks hand out; empty where there is no `DistributedSampler`."""
    seen = [[s for s in rank.all(LoaderSeen) if s.trained] for rank in run.ranks]
    return {share for of_rank in seen for s in of_rank[:1] if (share := s.share) is not None}


def _label(loader: Location | None, seeded: Location | None, shares: int) -> str:
    if seeded is not None:
        return "the same seed on every rank"
    if loader is None:
        return "is given the same rows on every rank"
    return "hands out other rows on every rank, with the same numbers" if shares > 1 else _SAME_ROWS


def _loader(run: Run) -> Location | None:
    return next((seen.built for seen in run.all(LoaderSeen) if seen.trained and seen.built is not None), None)


def _evidence(run: Run, shares: set[tuple[int, int]], same_seed: bool) -> Iterator[str]:
    ranks = len(run.ranks)
    yield f"{ranks} ranks do the work of one: the averaged gradient is that of one rank"
    if len(shares) == 1:
        (part, of), *_ = shares
        yield f"its `DistributedSampler` hands out part {part} of {of} on every rank"
    if len(shares) > 1:
        yield "its `DistributedSampler` gives every rank other rows: what comes of them is drawn, and alike"
    if same_seed:
        yield "the random seed is the same on all ranks"


_SAME_ROWS = "hands out the same rows on every rank"
_NO_SHARES = (
    Remedy(title="give the loader `sampler=DistributedSampler(dataset)` in place of `shuffle=True`"),
    Remedy(title="call `sampler.set_epoch(epoch)` at the top of every epoch"),
)
_ONE_SHARE = (Remedy(title="give the sampler the rank of its process: `DistributedSampler(dataset, rank=rank)`"),)
_BY_SEED = (Remedy(title="draw the rows of each rank by its own seed (`seed + rank`), or take every `world`-th row"),)
