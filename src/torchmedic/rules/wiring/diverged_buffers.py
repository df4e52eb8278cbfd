"""Buffers that have become different on the ranks, while a checkpoint keeps those of one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import RankStep, Run, WrapperSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import keeps_step, steps_of

_TOLERANCE = 1e-3
# Distances between ranks' means, in standard deviations: batches of two samples make about 0.25 by chance.
_FAR = 0.7
_SETTLED = 16


class DivergedBuffers(Rule):
    """A wrapper with `broadcast_buffers=False`: learned buffers differ, or BatchNorm met other data on each rank."""

    code = "WIR111"
    name = "diverged-buffers"
    severity = "warning"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "parameters agree between ranks, a buffer that is saved with them does not"
    needs = (RankStep, WrapperSeen)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        wrapper = run.first(WrapperSeen)
        found = (_parted(run) or _far_apart(run)) if keeps_step(run) else None
        if wrapper is None or wrapper.broadcasts_buffers or found is None:
            return
        step, name, told = found
        yield self.diagnose(
            headline=f"the buffer `{name}` differs between ranks after step {step}",
            confidence="proven",
            where=wrapper.built,
            mark="broadcast_buffers=False",
            label="buffers are not spread",
            step=step,
            culprit=Culprit(tensor=name),
            evidence=(
                *told,
                "a checkpoint of one rank holds that rank's buffers; what the others have seen is not in it",
            ),
            remedies=_remedies(name),
        )


def _remedies(name: str) -> tuple[Remedy, ...]:
    if name.endswith(".running_mean"):
        return (
            Remedy(title="give every rank all kinds of data: `DistributedSampler(dataset, shuffle=True)`"),
            Remedy(title="on GPUs: `model = nn.SyncBatchNorm.convert_sync_batchnorm(model)` before the wrapper"),
        )
    return (
        Remedy(title="leave `broadcast_buffers` at its default, which spreads rank 0's at every forward"),
        Remedy(title=f"or average what changes `{name}` over ranks: `dist.all_reduce` before it is stored"),
    )


def _parted(run: Run) -> tuple[int, str, tuple[str, ...]] | None:
    """The first compared step after which a buffer of the user's own differs."""
    equal = None
    for step, by_rank in steps_of(run).items():
        for name in next(iter(by_rank.values())).buffers:
            values = [seen.buffers[name] for seen in by_rank.values() if name in seen.buffers]
            low, high = min(values), max(values)
            if math.isfinite(low) and math.isfinite(high) and high - low > _TOLERANCE * max(abs(high), 1e-12):
                since = f"it was equal after step {equal}" if equal is not None else "it differs since the first step"
                return step, name, (f"its norm lies between {low:.6g} and {high:.6g} on the ranks; {since}",)
        equal = step
    return None


def _far_apart(run: Run) -> tuple[int, str, tuple[str, ...]] | None:
    """BatchNorm's statistics always differ a little; far apart they tell of ranks with different kinds of data."""
    for step, by_rank in steps_of(run).items():
        if step < _SETTLED:
            continue
        first, *others = by_rank.values()
        for name in first.statistics:
            distance = max((_distance(first, seen, name) for seen in others if name in seen.statistics), default=0.0)
            if distance > _FAR:
                return step, f"{name}.running_mean", (f"the ranks' means lie {distance:.2g} standard deviations apart",)
    return None


def _distance(one: RankStep, other: RankStep, name: str) -> float:
    """Root of the mean square over channels."""
    (means, spreads), (more_means, more_spreads) = one.statistics[name], other.statistics[name]
    squares = [
        (a - b) ** 2 / max((v + w) / 2, 1e-12)
        for a, b, v, w in zip(means, more_means, spreads, more_spreads, strict=False)
    ]
    distance = math.sqrt(sum(squares) / len(squares)) if squares else 0.0
    return distance if math.isfinite(distance) else 0.0
