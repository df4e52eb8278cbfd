"""`no_sync` that covers the last micro-batch of a step, so that the update uses gradients of one rank alone."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import ALONE, own_steps, parted_since

_ENOUGH = 3


class UpdateWithoutExchange(Rule):
    """The wrapper was called, gradients were made, and none of the step's backward passes exchanged them."""

    code = "WIR094"
    name = "update-without-exchange"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "all backward passes of a step ran under `no_sync`"
    needs = (RankStep,)
    folds = ("diverged-parameters",)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        compared = [s for by_rank in own_steps(run).values() for s in by_rank.values() if s.backward_at is not None]
        lonely = [s for s in compared if s.wrapped and s.backwards and not s.exchanges]
        is_shown = parted_since(run) is not None if run.ranks else len(lonely) == len(compared) >= _ENOUGH
        if not lonely or not is_shown:
            return
        first = lonely[0]
        backwards = "backward passes" if first.backwards > 1 else "backward pass"
        yield self.diagnose(
            headline=f"step {first.step} updates with gradients of one rank: `no_sync` covers all of its passes",
            confidence="proven",
            severity="error" if run.ranks else "warning",
            where=first.backward_at,
            label="exchanges nothing, and the update follows",
            step=first.step,
            culprit=Culprit(op="no_sync", phase="backward"),
            evidence=(
                f"{first.backwards} {backwards} before the update, 0 of them with an exchange",
                *(() if run.ranks else (ALONE,)),
            ),
            remedies=(
                Remedy(title="leave `no_sync` for the last micro-batch: forward and backward both outside of it"),
            ),
        )
