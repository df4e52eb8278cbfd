"""Running statistics that never move: evaluation normalises with those of a layer that has seen nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StillNormStatistics
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class NormalizationNeverUpdated(Rule):
    """`momentum` of a BatchNorm is 0: the new batch counts nothing, and evaluation uses the mean 0 and variance 1."""

    code = "TRN045"
    name = "normalization-never-updated"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "training is good, evaluation far worse, and `running_mean` is 0 and `running_var` 1 to the end"
    needs = (StillNormStatistics,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StillNormStatistics):
            where = seen.set_at or seen.built
            yield self.diagnose(
                headline=f"`{seen.layer}` with momentum=0 never updates `running_mean` and `running_var`",
                confidence="proven",
                step=seen.step,
                where=where,
                label="the new batch counts nothing",
                also=(Also(location=seen.built, why="the layer that is given it"),)
                if seen.built is not None and where != seen.built
                else (),
                culprit=Culprit(op=seen.layer, module=seen.path),
                evidence=(
                    f"`{seen.path}` saw {seen.batches} batches in training mode; its mean is still 0, its variance 1"
                    if seen.layers == 1
                    else f"{seen.layers} layers, the first `{seen.path}`, saw {seen.batches} batches in training mode; "
                    f"their mean is still 0, their variance 1",
                    "in training each batch is normalised with its own statistics, in evaluation with these",
                ),
                remedies=(
                    Remedy(title="leave `momentum` at 0.1: in torch it is the share of the new batch"),
                    Remedy(title="or write `momentum=None` for the mean over all batches"),
                ),
            )
