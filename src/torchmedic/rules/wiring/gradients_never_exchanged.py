"""Ranks that began with one model and train it apart: nothing exchanges gradients."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Replica, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._replicas import differing, replicas_of

_ENOUGH = 7


class GradientsNeverExchanged(Rule):
    """No wrapper, no collective with gradients or weights, and what was one model has become several."""

    code = "WIR110"
    name = "gradients-never-exchanged"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "no wrapper and no exchange; weights were equal at the start and drift apart"
    needs = (Replica,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        steps = replicas_of(run)
        if 0 not in steps or max(steps) < _ENOUGH or differing(steps[0]) is not None:
            return
        last = steps[max(steps)]
        parted = differing(last)
        if parted is None or any(seen.exchanged for seen in last):
            return
        name, low, high = parted
        first = steps[0][0]
        yield self.diagnose(
            headline=f"{len(run.ranks)} ranks train {len(run.ranks)} models: no gradient is exchanged",
            confidence="likely",
            where=first.built or first.stepped_at,
            label="is in no `DistributedDataParallel`",
            step=max(steps),
            culprit=Culprit(parameter=name, op="DistributedDataParallel"),
            evidence=(
                "before the first update the weights were the same on all ranks",
                f"after step {max(steps)} the norm of `{name}` lies between {low:.6g} and {high:.6g}",
                "no collective of the run had the shape of a gradient or of a parameter",
            ),
            remedies=(Remedy(title="wrap the model: `model = DistributedDataParallel(model)`, and call `model(x)`"),),
        )
