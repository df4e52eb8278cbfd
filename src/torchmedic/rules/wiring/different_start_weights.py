"""Ranks that average gradients by hand, but began with different weights."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Replica, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._replicas import differing, replicas_of


class DifferentStartWeights(Rule):
    """Before the first update a parameter differs between ranks, which exchange gradients from then on."""

    code = "WIR099"
    name = "different-start-weights"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "no wrapper; gradients are exchanged by hand, and weights differ before the first update"
    needs = (Replica,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        steps = replicas_of(run)
        last = steps[max(steps)] if steps else []
        shared = last[0].shared if last else ()
        parted = differing(steps[0], shared) if 0 in steps else None
        if parted is None or not all(seen.exchanged for seen in last) or differing(last, shared) is None:
            return
        name, low, high = parted
        first, at = steps[0][0], last[0].exchanged_at
        yield self.diagnose(
            headline=f"`{name}` differs between ranks before the first update",
            confidence="proven",
            where=first.built,
            label="built with other weights on every rank",
            step=1,
            also=(Also(location=at, why="exchanges between ranks, which keeps equal weights equal only"),)
            if at
            else (),
            culprit=Culprit(parameter=name, phase="setup"),
            evidence=(
                f"its norm lies between {low:.6g} and {high:.6g} on the ranks; nothing has spread rank 0's weights",
                *(("every rank has another random seed",) if len({seen.seed for seen in steps[0]}) > 1 else ()),
            ),
            remedies=(
                Remedy(title="spread rank 0's weights first: `for p in model.parameters(): dist.broadcast(p.data, 0)`"),
                Remedy(title="or let `DistributedDataParallel(model)` do both: spread weights, average gradients"),
            ),
        )
