"""Several loader workers draw the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WorkerStream
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class SameRandomNumbersInWorkers(Rule):
    """Workers of a training loader began with the same state of a generator, and each of them drew from it."""

    code = "DAT054"
    name = "same-random-numbers-in-workers"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the workers of a loader begin with the same state of a random generator"
    needs = (WorkerStream,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(WorkerStream):
            if seen.alike < 2:
                continue
            where = seen.where or seen.loader_built
            yield self.diagnose(
                headline=f"{seen.alike} loader workers draw the same random numbers from `{seen.stream}`",
                confidence="proven",
                where=where,
                label="copied into every worker as it is" if seen.held else "gives every worker the same seed",
                also=_loader(seen) if where is not seen.loader_built else (),
                culprit=Culprit(phase="data", field=seen.stream, op="worker_init_fn" if not seen.held else ""),
                evidence=(
                    f"{seen.alike} of {seen.workers} workers fetched their first batch of `{seen.dataset}` with the "
                    f"same state of `{seen.stream}`, and drew from it: each random change is made {seen.alike} times",
                    *_over_epochs(seen),
                ),
                remedies=_remedies(seen),
            )


def _loader(seen: WorkerStream) -> tuple[Also, ...]:
    return (Also(location=seen.loader_built, why="the loader"),) if seen.loader_built else ()


def _over_epochs(seen: WorkerStream) -> tuple[str, ...]:
    if seen.repeated < 2:
        return ()
    return (f"they began {seen.repeated} of {seen.passes} epochs with that state, too",)


def _remedies(seen: WorkerStream) -> tuple[Remedy, ...]:
    if not seen.held:
        return (
            Remedy(
                title="seed with `torch.initial_seed() % 2**32` in `worker_init_fn`: it differs by worker and epoch"
            ),
            Remedy(title="or leave `worker_init_fn` out: torch gives every worker its own seed"),
        )
    return (
        Remedy(title="draw from `torch`, `random` or `np.random`, which torch seeds anew in every worker"),
        Remedy(
            title=f"or make `{seen.stream}` anew in a `worker_init_fn`",
            detail="with `torch.utils.data.get_worker_info().seed`, which differs by worker and epoch",
        ),
    )
