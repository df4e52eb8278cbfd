"""Loader workers that stay keep something of every pass, and never use it again."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WorkerCache
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._sizes import more_than


class CacheGrowsInWorkers(Rule):
    """The memory of persistent workers grows by the same amount in every pass over the data."""

    code = "MEM240"
    name = "cache-grows-in-workers"
    severity = "warning"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.DEATH)
    tell_apart = (
        "loader workers with `persistent_workers=True` grow in every epoch, and not less than in the one before"
    )
    needs = (WorkerCache,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(WorkerCache):
            grown = more_than(seen.growth)
            yield self.diagnose(
                headline=f"{seen.workers} loader workers grow by more than {grown} in every pass, filling "
                f"`{seen.path}`",
                confidence="likely",
                step=seen.step,
                where=seen.where,
                label=f"`{seen.path}` lives in each worker, and is never emptied there",
                culprit=Culprit(field=f"{seen.dataset}.{seen.path.rpartition('.')[2]}", phase="data"),
                evidence=(
                    f"memory that the workers do not share with the script grew by more than {grown} in each of "
                    f"{seen.passes - 1} passes; samples that are met again would have added less and less",
                    f"`persistent_workers=True` keeps the workers, and so what `{seen.dataset}` holds in them",
                ),
                remedies=(
                    Remedy(title=f"bound `{seen.path}`, or key it by the sample's index alone"),
                    Remedy(title="or let workers end with their pass: `persistent_workers=False`"),
                ),
            )
