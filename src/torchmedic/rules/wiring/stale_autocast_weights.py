"""An autocast context around the whole loop: the half-precision copies of the weights are never made anew."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StaleCasts
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed


class StaleAutocastWeights(Rule):
    """Updates change the weights, and the model goes on computing with a copy from before."""

    code = "WIR170"
    name = "stale-autocast-weights"
    symptoms = (Symptom.LOSS_FLAT, Symptom.LOSS_NOISY)
    tell_apart = "within one autocast context the loss does not answer to updates; it jumps when the context is left"
    needs = (StaleCasts,)
    folds = ("TRN", "LOS", "exploding-weights")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StaleCasts):
            yield self.diagnose(
                headline=f"autocast computes with stale weights: their {seen.dtype} copies are older than "
                f"{counted(seen.updates, 'update')}",
                confidence="proven",
                step=seen.step,
                where=seen.autocast or seen.stepped,
                label="this context is still open when the weights are updated",
                also=also((seen.stepped, "the weights are updated here, inside it"), where=seen.autocast),
                culprit=Culprit(op="autocast", phase="forward", parameter=next(iter(seen.parameters), None)),
                evidence=(
                    "autocast keeps a copy of each weight in its cache until the outermost context is left",
                    f"the same copies served before and after {counted(seen.updates, 'step')} of "
                    f"`{seen.optimizer}`: {_which(seen)}",
                ),
                remedies=(
                    Remedy(
                        title="decorate the function that computes the loss, not the one with the loop"
                        if seen.is_decorator
                        else "enter the context inside the loop, around the forward pass and the loss alone"
                    ),
                    Remedy(title="or keep no copies: `torch.autocast(…, cache_enabled=False)`"),
                ),
            )


def _which(seen: StaleCasts) -> str:
    return listed(seen.parameters) if len(seen.parameters) == seen.count else counted(seen.count, "weight")
