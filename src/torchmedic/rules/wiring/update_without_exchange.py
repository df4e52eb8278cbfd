"""`no_sync` that covers the last micro-batch of a step, so that the update uses gradients of one rank alone."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import ALONE, own_steps, parted_since

_ENOUGH = 3


class UpdateWithoutExchange(Rule):
    """The wrapper was called, gradients were made, and nothing exchanged those of the step's last backward passes."""

    code = "WIR094"
    name = "update-without-exchange"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "the last backward pass of a step ran under `no_sync`"
    needs = (RankStep,)
    folds = ("diverged-parameters",)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        compared = [s for by_rank in own_steps(run).values() for s in by_rank.values() if s.backward_at is not None]
        lonely = [s for s in compared if s.wrapped and s.alone]
        is_shown = parted_since(run) is not None if run.ranks else len(lonely) == len(compared) >= _ENOUGH
        if not lonely or not is_shown:
            return
        first = lonely[0]
        covered = "all of its passes" if not first.exchanges else "its last pass"
        yield self.diagnose(
            headline=f"step {first.step} updates with gradients of one rank: `no_sync` covers {covered}",
            confidence="proven",
            severity="error" if run.ranks else "warning",
            where=first.alone_at or first.backward_at,
            label="exchanges nothing, and the update follows",
            step=first.step,
            culprit=Culprit(op="no_sync", phase="backward"),
            evidence=(
                f"without an exchange: {first.alone} of {first.backwards} backward passes before the update",
                *(() if run.ranks else (ALONE,)),
            ),
            remedies=(
                Remedy(title="leave `no_sync` for the last micro-batch: forward and backward both outside of it"),
            ),
        )
