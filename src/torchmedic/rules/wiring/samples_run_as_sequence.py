"""A recurrent or attention layer that runs over the samples of a batch instead of over time."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SamplesAsSequence
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import shown
from torchmedic.rules.wiring._telling import repeated


class SamplesRunAsSequence(Rule):
    """Without `batch_first=True` dimension 0 is time; here it holds the samples."""

    code = "WIR071"
    name = "samples-run-as-sequence"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the layer has `batch_first=False` and is given one row for each answer of the batch"
    needs = (SamplesAsSequence,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        placed = (seen for seen in run.all(SamplesAsSequence) if seen.built is not None)
        for found in repeated(placed, key=lambda seen: (seen.built, seen.layer)):
            yield self._diagnosis(found[0], len({seen.step for seen in found}))

    def _diagnosis(self, seen: SamplesAsSequence, steps: int) -> Diagnosis:
        samples, length = seen.shape[0], seen.shape[1]
        return self.diagnose(
            headline=f"`{seen.layer}` takes the {samples} samples of a batch for {samples} steps of time",
            confidence="likely",
            step=seen.step,
            where=seen.built,
            label="`batch_first` is False",
            also=(Also(location=seen.called, why="called here"),) if seen.called not in (None, seen.built) else (),
            culprit=Culprit(op=seen.layer, phase="forward", module=seen.layer),
            evidence=(
                f"it is given {shown(seen.shape)}, and the loss {seen.answers} answers: dimension 0 holds the samples",
                f"without `batch_first=True` it runs along dimension 0, from sample to sample, and treats the {length} "
                "positions of dimension 1 as a batch",
                f"so it was in {steps} steps that were looked at",
            ),
            remedies=(
                Remedy(title=f"build it with `batch_first=True`: `{seen.layer}(…, batch_first=True)`"),
                Remedy(title="or give it time first: `x.transpose(0, 1)`, and take its answer back the same way"),
            ),
        )
