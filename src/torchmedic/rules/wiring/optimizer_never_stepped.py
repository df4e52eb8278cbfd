"""Backward runs, an optimizer stands ready, and `step` is never called."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import NeverStepped, Origin, Run, SkippedUpdates
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed


class OptimizerNeverStepped(Rule):
    """Gradients are computed over and over, and the weights stay as they were."""

    code = "WIR016"
    name = "optimizer-never-stepped"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT)
    tell_apart = "no optimizer of the run ever stepped, and the parameters kept their values"
    needs = (NeverStepped,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        if run.first(SkippedUpdates) is not None and run.first(Origin) is not None:
            return  # the script does not step because the gradients are not finite: that has a cause of its own
        for seen in run.all(NeverStepped):
            yield self.diagnose(
                headline=f"`backward` ran {seen.backwards} times, but `{seen.optimizer}.step()` was never called",
                confidence="proven",
                where=seen.backward or seen.built,
                label="the gradients computed here are never used",
                also=also((seen.built, "this optimizer never steps"), where=seen.backward),
                culprit=Culprit(op="step", parameter=seen.names[0] if seen.names else None, phase="optimizer"),
                evidence=(f"{listed(seen.names)} have gradients and kept their first values",) if seen.names else (),
                remedies=(Remedy(title="call `optimizer.step()` after `backward()`"),),
            )
