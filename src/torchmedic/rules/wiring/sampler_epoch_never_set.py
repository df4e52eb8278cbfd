"""`DistributedSampler` without `set_epoch`: the data come in the same order in every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SamplerEpochNeverSet
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class SamplerEpochNeverSetRule(Rule):
    """A shuffling sampler was iterated again and again with the same epoch, which is the seed of its order."""

    code = "WIR035"
    name = "sampler-epoch-never-set"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the epoch of the sampler, the seed of its order, never changed"
    needs = (SamplerEpochNeverSet,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SamplerEpochNeverSet):
            yield self.diagnose(
                headline=f"`DistributedSampler` gave the same order in {seen.iterations} epochs, without `set_epoch`",
                confidence="proven",
                where=seen.where or seen.built,
                label="starts an epoch without `sampler.set_epoch(epoch)` before it",
                also=also((seen.built, "the sampler"), where=seen.where),
                culprit=Culprit(op="set_epoch", phase="data"),
                evidence=("the order is drawn with `seed + epoch`, and the epoch stayed at its first value",),
                remedies=(Remedy(title="call `sampler.set_epoch(epoch)` at the top of every epoch"),),
            )
