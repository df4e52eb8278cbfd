"""A sample gets the same random change in every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WorkerStream
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_EPOCHS = 3


class RandomNumbersRepeatedEachEpoch(Rule):
    """In every epoch a worker begins with the same state of a generator and with the same samples."""

    code = "DAT055"
    name = "random-numbers-repeated-each-epoch"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "a worker begins every epoch with the same samples and the same state of a random generator"
    needs = (WorkerStream,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(WorkerStream):
            repeated = seen.repeated == seen.passes >= _LEAST_EPOCHS
            if seen.alike >= 2 or not repeated or not seen.same_samples:
                continue
            where = seen.where or seen.loader_built
            built = seen.loader_built
            yield self.diagnose(
                headline=f"`{seen.stream}` gives each sample the same random numbers in all {seen.passes} epochs",
                confidence="proven",
                where=where,
                label="each epoch's workers start with this state" if seen.held else "seeds alike in every epoch",
                also=(Also(location=built, why="the loader"),) if built and where is not built else (),
                culprit=Culprit(phase="data", field=seen.stream),
                evidence=(
                    f"a worker began {seen.repeated} epochs of `{seen.dataset}` with the same samples and the same "
                    f"state of `{seen.stream}`, and drew from it: every epoch sees the same changed samples",
                ),
                remedies=(
                    Remedy(title="seed by worker and epoch, with `torch.utils.data.get_worker_info().seed`"),
                    Remedy(title="or keep the workers: `persistent_workers=True`"),
                ),
            )
