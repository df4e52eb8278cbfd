"""The inner module of `DistributedDataParallel` is called instead of the wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run, WrapperPassed
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import ALONE, differing, own_steps, parted_since

_REMEDIES = (
    Remedy(title="call the wrapper: `model(x)` instead of `model.module(x)`"),
    Remedy(title="for another method than `forward`, move it behind an argument of `forward`"),
)


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
            yield from self._one_of_several(run)
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
            remedies=_REMEDIES,
        )

    def _one_of_several(self, run: Run) -> Iterator[Diagnosis]:
        """A wrapper beside others that are called. Gradients that the script itself exchanges keep its ranks alike."""
        facts = [list(rank.all(WrapperPassed)) for rank in run.ranks or (run,)]
        for at, first in enumerate(facts[0]):
            peers = [found[at] for found in facts if at < len(found)]
            same = [one for one in peers if (one.model, one.where) == (first.model, first.where)]
            parted = list(differing(dict(enumerate(same))))[:1]
            if len(same) < len(facts) or (run.ranks and not parted) or first.where is None:
                continue
            yield self.diagnose(
                headline=f"`{first.model}` is called past its `DistributedDataParallel`: no gradient is exchanged",
                confidence="proven" if parted else "likely",
                severity="error" if run.ranks else "warning",
                where=first.where,
                mark=".module",
                label="calls the inner module",
                step=first.step,
                culprit=Culprit(op="DistributedDataParallel.forward", module=first.model),
                evidence=(
                    f"this wrapper was called in none of the first {first.step} steps, of which {first.steps} gave its "
                    "weights gradients",
                    *(
                        f"norm of `{name}` after step {first.step}: {low:.6g} to {high:.6g}"
                        for name, low, high in parted
                    ),
                    *(() if run.ranks else (ALONE,)),
                ),
                remedies=_REMEDIES,
            )
