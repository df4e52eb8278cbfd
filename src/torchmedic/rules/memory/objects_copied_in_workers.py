"""A large list of Python objects is copied into every loader worker, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WorkerGrowth
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._sizes import more_than

_WORTH_SAYING = 16_000_000


class ObjectsCopiedInWorkers(Rule):
    """Workers share the script's memory until it is written; counting references writes."""

    code = "MEM010"
    name = "objects-copied-in-workers"
    severity = "warning"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.DEATH)
    tell_apart = "the loader's workers grow, and the data set holds a list or dict of very many objects"
    needs = (WorkerGrowth,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.last(WorkerGrowth)
        if seen is None or (seen.after - seen.before) / seen.workers < _WORTH_SAYING:
            return
        grown = more_than(seen.after - seen.before)
        yield self.diagnose(
            headline=f"{seen.workers} loader workers grew by more than {grown}, copying `self.{seen.path}`",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            label=f"{seen.count} Python objects in a {seen.container}",
            culprit=Culprit(field=f"{seen.dataset}.{seen.path}", phase="data"),
            evidence=(
                f"memory that the workers do not share with the script rose by more than {grown} in {seen.batches} "
                "batches",
                f"`{seen.path}` of `{seen.dataset}` is a {seen.container} of {seen.count} objects; reading one changes "
                "its reference count, and so copies the page it lies in",
            ),
            remedies=(
                Remedy(title=f"keep `{seen.path}` as one array: `np.array(...)`, a tensor, or an Arrow column"),
                Remedy(title="or use fewer workers", detail="each copies the whole of it in time"),
            ),
        )
