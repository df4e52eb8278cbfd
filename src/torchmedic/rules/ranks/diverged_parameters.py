"""Parameters that should be the same on all ranks and are not."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run, WrapperSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._steps import parted_since


class DivergedParameters(Rule):
    """Norms of parameters, compared after a few steps, differ between ranks."""

    code = "RNK010"
    name = "diverged-parameters"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the norm of a wrapped parameter differs between ranks after a step"
    needs = (RankStep, WrapperSeen)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = parted_since(run)
        seen = run.first(WrapperSeen)
        if found is None or seen is None:
            return
        step, equal, (name, low, high) = found
        since = f"they were equal after step {equal}" if equal is not None else "they differ since the first step"
        yield self.diagnose(
            headline=f"`{name}` differs between ranks after step {step}",
            confidence="proven",
            where=seen.built,
            label="wrapped here, to be the same on all ranks",
            step=step,
            culprit=Culprit(parameter=name),
            evidence=(f"its norm lies between {low:.6g} and {high:.6g} on the ranks; {since}",),
            remedies=(
                Remedy(
                    title="change weights on all ranks alike: not under `if rank == …`, not from local random numbers"
                ),
                Remedy(title="change or load weights before `DistributedDataParallel(model)`, which spreads rank 0's"),
            ),
        )
