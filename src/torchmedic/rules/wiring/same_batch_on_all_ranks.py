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
        loader = _loader(run)
        seeded = _seeded(run) if loader is None and len(seeds) == 1 else None
        yield self.diagnose(
            headline=f"all {len(run.ranks)} ranks train on the same batches: {len(batches)} of {len(batches)} compared",
            confidence="proven",
            where=loader or seeded or first.called_at,
            label=_label(loader, seeded),
            step=first.step,
            culprit=Culprit(phase="data"),
            evidence=tuple(_evidence(len(run.ranks), len(seeds) == 1, loader is not None)),
            remedies=_remedies(loader is not None),
        )


def _seeded(run: Run) -> Location | None:
    """Where the seed was set, of rows that the script draws by itself."""
    return next((at for seen in run.all(RandomDraws) if (at := seen.seeded.get("torch")) is not None), None)


def _label(loader: Location | None, seeded: Location | None) -> str:
    if loader is not None:
        return "hands out the same rows on every rank"
    return "the same seed on every rank" if seeded is not None else "is given the same rows on every rank"


def _loader(run: Run) -> Location | None:
    return next((seen.built for seen in run.all(LoaderSeen) if seen.trained and seen.built is not None), None)


def _evidence(ranks: int, same_seed: bool, has_loader: bool) -> Iterator[str]:
    yield f"{ranks} ranks do the work of one: the averaged gradient is that of one rank"
    if same_seed and not has_loader:
        yield "the random seed is the same on all ranks"


def _remedies(has_loader: bool) -> tuple[Remedy, ...]:
    if has_loader:
        return (
            Remedy(title="give the loader `sampler=DistributedSampler(dataset)` in place of `shuffle=True`"),
            Remedy(title="call `sampler.set_epoch(epoch)` at the top of every epoch"),
        )
    return (Remedy(title="draw the rows of each rank by its own seed (`seed + rank`), or take every `world`-th row"),)
