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
            where = seen.loop or seen.where or seen.built
            counter = seen.counter or "epoch"
            yield self.diagnose(
                headline=f"`DistributedSampler` gave the same order in {seen.iterations} epochs, without `set_epoch`",
                confidence="proven",
                where=where,
                label=f"counts epochs, and never calls `sampler.set_epoch({counter})`"
                if seen.loop is not None
                else "starts an epoch without `sampler.set_epoch(epoch)` before it",
                also=also((seen.where, "starts an epoch of the sampler"), (seen.built, "the sampler"), where=where),
                culprit=Culprit(op="set_epoch", phase="data"),
                evidence=("the order is drawn with `seed + epoch`, and the epoch stayed at its first value",),
                remedies=(Remedy(title=f"call `sampler.set_epoch({counter})` at the top of every epoch"),),
            )
