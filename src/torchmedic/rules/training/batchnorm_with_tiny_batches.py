"""BatchNorm whose mean and spread come from two to four values."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, Location, Run, TinyBatchNorm
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3
_FAR_TOO_FEW = 2


class BatchnormWithTinyBatches(Rule):
    """In every step looked at, a BatchNorm in training saw at most four values per channel."""

    code = "TRN020"
    name = "batchnorm-with-tiny-batches"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "two to four values per channel: what a sample becomes depends on its neighbours in the batch"
    needs = (TinyBatchNorm,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        steps = sorted({seen.step for seen in run.all(TinyBatchNorm) if seen.step is not None})
        seen = run.first(TinyBatchNorm)
        if seen is None or len(steps) < _LEAST_STEPS or seen.layer_built is None:
            return
        loader = _loader(run, seen.batch)
        where = loader or seen.layer_built
        yield self.diagnose(
            headline=f"`{seen.layer}` works out mean and spread from {seen.values} values per channel",
            confidence="proven",
            severity="warning" if seen.values <= _FAR_TOO_FEW else "hint",
            step=seen.step,
            where=where,
            label=f"batches of {seen.batch}" if loader else f"is given batches of {seen.batch}",
            also=(Also(location=seen.layer_built, why=f"the `{seen.layer}`"),) if loader else (),
            culprit=Culprit(op="batch_norm", phase="forward", module=seen.layer),
            evidence=(
                f"so it was at steps {', '.join(map(str, steps[:8]))}",
                f"a spread of {seen.values} values is off by half its size; running statistics are as noisy",
            ),
            remedies=(
                Remedy(title="use batches of 16 or more"),
                Remedy(title=f"or `nn.GroupNorm` or `nn.LayerNorm` in place of `{seen.layer}`"),
            ),
        )


def _loader(run: Run, batch: int) -> Location | None:
    """Where a loader with this size of batch was built."""
    return next((one.built for one in run.all(LoaderSeen) if one.trained and one.batch_size == batch), None)
