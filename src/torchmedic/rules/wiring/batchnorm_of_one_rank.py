"""BatchNorm that sees a handful of values, because every rank normalises by itself."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WrapperSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_FEW = 4
_FEW_SAMPLES = 2


class BatchnormOfOneRank(Rule):
    """A BatchNorm under `DistributedDataParallel` gets a few values per channel, or one or two samples, on a rank."""

    code = "WIR114"
    name = "batchnorm-of-one-rank"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "a BatchNorm in training sees at most two samples or four values per channel on a rank, unsynchronised"
    needs = (WrapperSeen,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(WrapperSeen)
        tiny = seen is not None and (seen.samples or _FEW) <= _FEW_SAMPLES
        few = {path: count for path, count in seen.norms.items() if count <= _FEW or tiny} if seen is not None else {}
        if seen is None or not few or len(run.ranks) < 2:
            return
        path, count = next(iter(few.items()))
        yield self.diagnose(
            headline=f"`{path}` normalises over {_amount(count, seen.samples)}, those of one rank",
            confidence="proven",
            where=seen.norm_built or seen.built,
            label=f"{len(few)} such layer{'s' if len(few) > 1 else ''}",
            step=seen.step,
            culprit=Culprit(module=path),
            evidence=(
                f"with {len(run.ranks)} ranks together it would be {_together(count, seen.samples, len(run.ranks))}",
            ),
            remedies=(
                Remedy(title="on GPUs: `model = nn.SyncBatchNorm.convert_sync_batchnorm(model)` before the wrapper"),
                Remedy(title="or normalise without the batch: `nn.GroupNorm`, `nn.LayerNorm`"),
            ),
        )


def _amount(values: int, samples: int | None) -> str:
    if values <= _FEW:
        return f"{values} values per channel"
    return f"{samples} samples" if samples != 1 else "1 sample"


def _together(values: int, samples: int | None, ranks: int) -> str:
    return f"{values * ranks} values" if values <= _FEW else f"{(samples or 0) * ranks} samples"
