"""BatchNorm that sees a handful of values, because every rank normalises by itself."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WrapperSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_FEW = 4


class BatchnormOfOneRank(Rule):
    """A BatchNorm under `DistributedDataParallel` gets at most four values per channel on each rank."""

    code = "RNK015"
    name = "batchnorm-of-one-rank"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "a BatchNorm in training sees at most four values per channel on a rank, and is not synchronised"
    needs = (WrapperSeen,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(WrapperSeen)
        few = {path: count for path, count in seen.norms.items() if count <= _FEW} if seen is not None else {}
        if seen is None or not few or len(run.ranks) < 2:
            return
        path, count = next(iter(few.items()))
        yield self.diagnose(
            headline=f"`{path}` normalises over {count} values per channel, those of one rank",
            confidence="proven",
            where=seen.norm_built or seen.built,
            label=f"{len(few)} such layer{'s' if len(few) > 1 else ''}",
            step=seen.step,
            culprit=Culprit(module=path),
            evidence=(f"with {len(run.ranks)} ranks together it would be {count * len(run.ranks)} values",),
            remedies=(
                Remedy(title="on GPUs: `model = nn.SyncBatchNorm.convert_sync_batchnorm(model)` before the wrapper"),
                Remedy(title="or normalise without the batch: `nn.GroupNorm`, `nn.LayerNorm`"),
            ),
        )
