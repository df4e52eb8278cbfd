"""The inner module of `DistributedDataParallel` is called instead of the wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import ALONE, own_steps, parted_since


class BypassedWrapper(Rule):
    """Steps were made in which the wrapper was never called, its inner module was: nothing exchanges gradients."""

    code = "WIR092"
    name = "bypassed-wrapper"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "`ddp.module(...)` makes the loss, the wrapper is not called, and ranks drift apart"
    needs = (RankStep,)
    folds = ("diverged-parameters",)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        compared = own_steps(run).values()
        seen = [s for by_rank in compared for s in by_rank.values() if s.bypassed and not s.wrapped and s.backwards]
        if not seen or any(s.wrapped for by_rank in compared for s in by_rank.values()):
            return
        first = seen[0]
        parted = parted_since(run)
        yield self.diagnose(
            headline=f"`{first.bypassed_by}` is called past its `DistributedDataParallel`: no gradient is exchanged",
            confidence="proven" if parted is not None or not run.ranks else "likely",
            severity="error" if run.ranks else "warning",
            where=first.bypassed,
            mark=".module",
            label="calls the inner module",
            step=first.step,
            culprit=Culprit(op="DistributedDataParallel.forward", module=first.bypassed_by),
            evidence=("the wrapper itself was called in none of the first steps", *(() if run.ranks else (ALONE,))),
            remedies=(
                Remedy(title="call the wrapper: `model(x)` instead of `model.module(x)`"),
                Remedy(title="for another method than `forward`, move it behind an argument of `forward`"),
            ),
        )
