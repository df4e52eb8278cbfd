"""`drop_last=True` with fewer samples than a batch: the loader hands out nothing, and the loop over it never runs."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PassWithoutBatches, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class LoaderWithoutBatches(Rule):
    """All samples are the rest that `drop_last` drops."""

    code = "DAT080"
    name = "loader-without-batches"
    symptoms = (Symptom.LOSS_ZERO, Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "a loader was looped over, and the body of the loop never ran"
    needs = (PassWithoutBatches,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(PassWithoutBatches):
            if not seen.drop_last or not 0 < seen.samples < seen.batch_size:
                continue
            name = seen.names[0] if seen.names else "the loader"
            where = seen.built or seen.where
            times = f"{seen.passes} passes" if seen.passes > 1 else "a pass"
            yield self.diagnose(
                headline=f"`{name}` has no batch: {seen.samples} samples, `batch_size={seen.batch_size}`, "
                "`drop_last=True`",
                severity="error" if not run.info.steps else "warning",
                confidence="proven",
                where=where,
                label="drops the only batch, because it is not full",
                also=(Also(location=seen.where, why="this loop never runs"),)
                if seen.where is not None and seen.where != where
                else (),
                culprit=Culprit(field="drop_last", phase="data", op="DataLoader", rows=seen.samples),
                evidence=(
                    f"{times} over it ended before the first batch",
                    *(("no optimizer stepped in the whole run: nothing was trained",) if not run.info.steps else ()),
                ),
                remedies=(
                    Remedy(title="set `drop_last=False`"),
                    Remedy(title=f"or a `batch_size` of at most {seen.samples}"),
                ),
            )
