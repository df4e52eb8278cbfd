"""Gradient accumulation that exchanges gradients after every micro-batch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RankStep, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._steps import steps_of

_ENOUGH = 3


class ExchangeEveryMicroBatch(Rule):
    """Every backward of a step exchanged gradients, although the update needs only the last to."""

    code = "WIR095"
    name = "exchange-every-micro-batch"
    severity = "hint"
    symptoms = (Symptom.SLOW_STEP,)
    tell_apart = "several backward passes per update, all of them with an exchange"
    needs = (RankStep,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        compared = [next(iter(by_rank.values())) for by_rank in steps_of(run).values()]
        close = [s for s in compared if s.backward_at is not None]
        wasteful = [s for s in close if s.wrapped == s.backwards == s.exchanges > 1]
        if len(wasteful) < _ENOUGH or len(wasteful) < len(close) - 1:
            return
        first = wasteful[0]
        yield self.diagnose(
            headline=f"gradients are exchanged {first.exchanges} times for one update",
            confidence="proven",
            where=first.backward_at,
            label="exchanges gradients each time",
            step=first.step,
            culprit=Culprit(op="no_sync", phase="backward"),
            evidence=(
                f"{first.backwards} micro-batches per step; the result is right, the exchange is paid each time",
            ),
            remedies=(Remedy(title="run all but the last micro-batch under `with model.no_sync():`"),),
        )
