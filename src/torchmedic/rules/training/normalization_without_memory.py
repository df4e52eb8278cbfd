"""Running statistics that follow the last batch: `momentum` means the opposite in other frameworks."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ShortNormMemory
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_SURELY = 0.97


class NormalizationWithoutMemory(Rule):
    """`momentum` of a BatchNorm is 0.9 or more: the new batch counts nine tenths."""

    code = "TRN043"
    name = "normalization-without-memory"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "evaluation jumps from epoch to epoch while training is smooth"
    needs = (ShortNormMemory,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(ShortNormMemory))
        if not found:
            return
        seen = found[0]
        yield self.diagnose(
            headline=f"`{seen.layer}` with momentum={seen.momentum:g} keeps {1 - seen.momentum:.2g} of its statistics",
            # Values below those that other frameworks have by default may be meant.
            severity=self.severity if seen.momentum >= _SURELY else "hint",
            confidence="likely",
            step=seen.step,
            where=seen.built,
            label="the last batch counts nearly everything",
            culprit=Culprit(op=seen.layer, module=seen.layer),
            evidence=(
                f"in torch `momentum` is the share of the new batch: after each batch `running_mean` is "
                f"{seen.momentum:g} of it",
                "in TensorFlow and Keras it is the share of the old value, 0.99 by default",
            ),
            remedies=(Remedy(title=f"write `momentum={1 - seen.momentum:.2g}`, or leave it at 0.1"),),
        )
