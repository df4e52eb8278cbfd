"""Gradients that are added up over ranks and never divided by their number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GradientExchange, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_ENOUGH = 3
_NEAR = 1e-3
_APART = 0.05
# A hook may send gradients in half precision: what cancels out leaves its roundings.
_NEAR_ROUNDED = 0.04
_APART_ROUNDED = 0.2
# They divide a gradient by its own size: a factor in front of it changes little.
_SCALE_FREE = frozenset(
    {"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "Adafactor"}
)


class GradientsSummedOverRanks(Rule):
    """At the update every gradient is the sum of the ranks' own, each of which is that of a mean loss."""

    code = "WIR250"
    name = "gradients-summed-over-ranks"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = (
        "gradients are all-reduced by hand or in a communication hook; the update sees their sum, not their mean"
    )
    needs = (GradientExchange,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        steps = [seen for seen in _by_step(run) if _is_of_shares(seen)]
        summed = [seen for seen in steps if _summed(seen) is not None]
        if len(summed) < _ENOUGH or len(summed) < len(steps):
            return
        first, world = summed[0], len(run.ranks)
        name = _summed(first)
        assert name is not None
        own = ", ".join(f"{seen.local[name]:.4g}" for seen in first[:4])
        whole = first[0].stepped[name]
        yield self.diagnose(
            headline=f"gradients are added up over {world} ranks and not divided: the update is {world} times as large",
            confidence="likely",
            severity="hint" if first[0].optimizer in _SCALE_FREE else self.severity,
            where=first[0].exchanged_at,
            label=f"the sum of {world} ranks, and nothing divides it afterwards",
            step=first[0].step,
            culprit=Culprit(op="all_reduce", parameter=name, phase="backward"),
            evidence=(
                f"a weighted sum of the gradient of `{name}` is {own} on the ranks, {whole:.4g} at the update",
                "the loss of every rank is a mean over its own batch: the mean over all is the mean of the ranks",
                f"so it was in {len(summed)} of the {len(steps)} first steps",
            ),
            remedies=_IN_HOOK if first[0].in_hook else _BY_HAND,
        )


_BY_HAND = (
    Remedy(title="divide by the number of ranks afterwards: `p.grad /= dist.get_world_size()`"),
    Remedy(title="or let `DistributedDataParallel(model)` average them while backward goes on"),
)
_IN_HOOK = (
    Remedy(title="divide in the hook, before the exchange: `bucket.buffer().div_(dist.get_world_size())`"),
    Remedy(title="or take a hook of `torch.distributed.algorithms.ddp_comm_hooks`, which averages"),
)


def _by_step(run: Run) -> Iterator[list[GradientExchange]]:
    """One of each rank, for every step that all of them made."""
    found: dict[int, list[GradientExchange]] = {}
    for rank in run.ranks:
        for seen in rank.all(GradientExchange):
            found.setdefault(seen.step or 0, []).append(seen)
    yield from (seen for _, seen in sorted(found.items()) if len(seen) == len(run.ranks) > 1)


def _is_of_shares(ranks: list[GradientExchange]) -> bool:
    """Whether each rank has a loss of its own: ranks that share one batch and one model have parts of one gradient."""
    losses = [seen.loss for seen in ranks if seen.loss is not None]
    if len(losses) < len(ranks) or not all(seen.is_mean for seen in ranks):
        return False
    return max(losses) - min(losses) > _NEAR * max(abs(loss) for loss in losses)


def _summed(ranks: list[GradientExchange]) -> str | None:
    """A parameter whose gradient at the update is the sum of all ranks' own, as are all others that can be judged."""
    told = None
    is_rounded = any(seen.in_hook for seen in ranks)
    near, apart = (_NEAR_ROUNDED, _APART_ROUNDED) if is_rounded else (_NEAR, _APART)
    for name in ranks[0].local:
        if not all(name in seen.local and name in seen.stepped for seen in ranks):
            return None
        total = sum(seen.local[name] for seen in ranks)
        size = sum(abs(seen.local[name]) for seen in ranks)
        if size == 0 or abs(total) < apart * size:
            continue
        if any(abs(seen.stepped[name] - total) > near * size for seen in ranks):
            return None
        told = told or name
    return told
