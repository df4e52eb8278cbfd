"""Every worker of a loader goes through the whole of an `IterableDataset`."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SamplesRepeated
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class SamplesRepeatedByWorkers(Rule):
    """Workers of a training loader handed out the same samples: the stream is not shared out between them."""

    code = "DAT077"
    name = "samples-repeated-by-workers"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.SLOW_STEP)
    tell_apart = "several workers of a loader hand out the same samples of an `IterableDataset`"
    needs = (SamplesRepeated,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SamplesRepeated):
            where = seen.where or seen.loader_built
            yield self.diagnose(
                headline=f"{seen.alike} workers read all of `{seen.dataset}`: each sample comes {seen.alike} times",
                confidence="proven",
                where=where,
                label="every worker goes through all samples" if seen.where else "the workers of this loader",
                also=_loader(seen),
                culprit=Culprit(phase="data", field=seen.dataset, op="__iter__"),
                evidence=(_seen(seen),),
                remedies=(
                    Remedy(
                        title="give each worker its share in `__iter__`, by `torch.utils.data.get_worker_info()`",
                        detail="for example `itertools.islice(samples, info.id, None, info.num_workers)`",
                    ),
                    Remedy(title="or read the stream in one process, with `num_workers=0` or `num_workers=1`"),
                ),
            )


def _loader(seen: SamplesRepeated) -> tuple[Also, ...]:
    if seen.where is None or seen.loader_built is None:
        return ()
    return (Also(location=seen.loader_built, why="the loader"),)


def _seen(seen: SamplesRepeated) -> str:
    if seen.in_order:
        return (
            f"the first {seen.samples} samples of {seen.alike} of the {seen.workers} workers (`num_workers`) are the "
            "same, in the same order"
        )
    return (
        f"in its first pass {seen.alike} of the {seen.workers} workers (`num_workers`) handed out the same "
        f"{seen.samples} samples each"
    )
